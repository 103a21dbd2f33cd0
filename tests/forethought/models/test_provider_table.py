"""What each provider is sent, and how a refusal that it is known to give is answered: see providers.yaml."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from forethought.models import Function, Message, Models, ReplySpec, methods, reply_spec
from forethought.models.live import LiveTransport
from forethought.models.retry import Backoff
from forethought.settings import Settings
from tests.support.web_server import Asked, Sent, WebServer

Json = dict[str, Any]
Make = Callable[..., Settings]
PROVIDERS: list[Json] = yaml.safe_load(Path(__file__).with_name("providers.yaml").read_text("utf-8"))
FAULTS = [(provider, fault) for provider in PROVIDERS for fault in provider["refusals"]]
PARAMETERS: Json = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
STRICT = {**PARAMETERS, "additionalProperties": False}


Serve = Callable[[Json], tuple["Provider", Models]]


class Sum(BaseModel):
    total: int


class Provider:
    """Gives refusals, then replies in the form of its protocol."""

    def __init__(self, protocol: str) -> None:
        self.protocol = protocol
        self.refusals: list[Json] = []
        self.bodies: list[Json] = []
        self.server = WebServer(self._answer)

    def _answer(self, asked: Asked) -> Sent:
        body = json.loads(asked.body)
        self.bodies.append(body)
        if self.refusals:
            fault = self.refusals.pop(0)
            return Sent(json.dumps(self._error(fault)), fault["status"], _kind("application/json"))
        stream = bool(body.get("stream")) or "streamGenerate" in asked.path
        return _reply(self.protocol, body, stream)

    def _error(self, fault: Json) -> Json:
        if "text" in fault:
            return {"error": fault["text"]}
        if self.protocol == "bedrock":
            return {"message": fault["error"], "__type": "ValidationException"}
        error = {"message": fault["error"], "code": fault["status"], "type": "invalid_request_error"}
        return {"type": "error", "error": {**error, "status": "INVALID_ARGUMENT"}}


def _kind(mime: str) -> dict[str, str]:
    return {"Content-Type": mime}


def _reply(protocol: str, body: Json, stream: bool) -> Sent:
    """The sum, as a call if functions are offered."""
    tools = body.get("tools") or (body.get("toolConfig") or {}).get("tools")
    name = "halve" if "halve" in json.dumps(tools) else "double" if "double" in json.dumps(tools) else "Sum"
    value: Json = {"total": 5} if name == "Sum" else {"x": 5}
    written = json.dumps({"total": 5, "function": "halve", "arguments": {"x": 5}})
    whole = {
        "chat": _chat,
        "responses": _responses,
        "anthropic": _anthropic,
        "gemini": _gemini,
        "bedrock": _bedrock,
    }
    reply = whole[protocol](name if tools else "", value, written)
    if protocol == "chat" and stream:
        choice = reply["choices"][0]
        calls = [{**call, "index": at} for at, call in enumerate(choice["message"].get("tool_calls") or ())]
        choice["delta"] = {**choice.pop("message"), "tool_calls": calls}
        return Sent(f"data: {json.dumps(reply)}\n\ndata: [DONE]\n\n", headers=_kind("text/event-stream"))
    return Sent(json.dumps(reply), headers=_kind("application/json"))


def _chat(call: str, value: Json, written: str) -> Json:
    function = {"name": call, "arguments": json.dumps(value)}
    calls = {"tool_calls": [{"id": "c", "type": "function", "function": function}]} if call else {}
    message = {"role": "assistant", "content": None if call else written, **calls}
    return {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def _responses(call: str, value: Json, written: str) -> Json:
    text = {"type": "output_text", "text": written, "annotations": []}
    item: Json = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}
    if call:
        item = {
            "type": "function_call",
            "id": "f",
            "call_id": "c",
            "name": call,
            "arguments": json.dumps(value),
        }
    head = {"id": "r", "object": "response", "created_at": 0, "model": "gpt-5", "status": "completed"}
    return {**head, "output": [item], "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}


def _anthropic(call: str, value: Json, written: str) -> Json:
    block = {"type": "tool_use", "id": "t", "name": call, "input": value}
    content = block if call else {"type": "text", "text": written}
    usage = {"input_tokens": 9, "output_tokens": 5}
    head = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn"}
    return {**head, "content": [content], "usage": usage}


def _gemini(call: str, value: Json, written: str) -> Json:
    part: Json = {"functionCall": {"name": call, "args": value}} if call else {"text": written}
    return {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}


def _bedrock(call: str, value: Json, written: str) -> Json:
    block: Json = {"toolUse": {"toolUseId": "t", "name": call, "input": value}} if call else {"text": written}
    usage = {"inputTokens": 9, "outputTokens": 5, "totalTokens": 14}
    message = {"role": "assistant", "content": [block]}
    return {
        "output": {"message": message},
        "stopReason": "end_turn",
        "usage": usage,
        "metrics": {"latencyMs": 1},
    }


@pytest.fixture
def serve(settings: Make, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    opened: list[Provider] = []

    def start(provider: Json) -> tuple[Provider, Models]:
        made = Provider(provider["protocol"])
        opened.append(made)
        for name, value in provider.get("environment", {}).items():
            monkeypatch.setenv(name, str(value).format(url=made.server.url))
        if provider.get("own"):
            monkeypatch.setattr(methods, "is_openai", lambda chat: True)
        own = {
            name: value.format(url=made.server.url) for name, value in provider.get("settings", {}).items()
        }
        return made, again(provider, settings(**own))

    yield start
    for each in opened:
        each.server.close()


def again(provider: Json, settings: Settings) -> Models:
    """Models as another process has them: all that they know of the server is in the data folder."""
    chats: Json = {}
    if provider.get("object"):
        from langchain_openai import ChatOpenAI

        chats = {provider["model"]: ChatOpenAI(model="gpt-5", use_responses_api=True, max_retries=0)}
    return Models(settings, LiveTransport(settings, Backoff(0.001, 0.002), chats))


async def ask(models: Models, provider: Json, fault: Json) -> Any:
    names = ("double", "halve")[: fault.get("offers", 0)]
    functions = tuple(Function(name, f"{name} it", STRICT) for name in names)
    spec: Any = ReplySpec("Move", STRICT, dict, functions) if functions else reply_spec(Sum)

    async def hear(text: str) -> None:
        """Somebody listens."""

    question = [Message("system", "You add."), Message("user", "2 + 3?")]
    listener = hear if fault.get("hears") else None
    asked = await models.ask(
        role="tool", model=provider["model"], messages=question, reply=spec, listener=listener
    )
    return asked.reply


def at(body: Any, path: str) -> Any:
    """The part of a request at a path of names and numbers; None if there is none."""
    for key in path.split("."):
        if isinstance(body, list):
            body = body[int(key)] if int(key) < len(body) else None
        else:
            body = (body or {}).get(key)
    return body or None if body is False else body


def parts(body: Json, expected: Json) -> Json:
    return {path: at(body, path) for path in expected}


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda each: each["name"])
async def test_what_is_sent(provider: Json, serve: Serve) -> None:
    made, models = serve(provider)
    assert (await ask(models, provider, {})).total == 5
    (body,) = made.bodies
    assert parts(body, provider["sends"]) == provider["sends"]


@pytest.mark.parametrize(("provider", "fault"), FAULTS, ids=[f"{p['name']}-{f['known']}" for p, f in FAULTS])
async def test_a_known_refusal_is_answered_in_another_form(provider: Json, fault: Json, serve: Serve) -> None:
    made, models = serve(provider)
    made.refusals = [fault] * fault.get("times", 1)
    reply = await ask(models, provider, fault)
    assert (reply.total if isinstance(reply, Sum) else reply["arguments"]["x"]) == 5
    assert len(made.bodies) == 1 + fault.get("times", 1)
    assert parts(made.bodies[-1], fault["then"]) == fault["then"]


@pytest.mark.parametrize(("provider", "fault"), FAULTS, ids=[f"{p['name']}-{f['known']}" for p, f in FAULTS])
async def test_the_form_that_was_taken_is_remembered(provider: Json, fault: Json, serve: Serve) -> None:
    if "vocabulary" in fault.get("error", ""):
        pytest.skip("it says nothing of the form: this process alone remembers")
    made, models = serve(provider)
    made.refusals = [fault] * fault.get("times", 1)
    await ask(models, provider, fault)
    await ask(again(provider, models.settings), provider, fault)
    assert parts(made.bodies[-1], fault["then"]) == fault["then"]
    assert len(made.bodies) == 2 + fault.get("times", 1)


def table() -> str:
    """The table of docs/how-to/models.md."""
    lines = ["| server | limit | may refuse |", "|---|---|---|"]
    for provider in PROVIDERS:
        limit = next(path for path in provider["sends"] if "max" in path.lower()).rpartition(".")[2]
        faults = ", ".join(fault["refuses"] for fault in provider["refusals"])
        lines.append(f"| {provider['name']} | `{limit}` | {faults} |")
    return "\n".join(lines)


def test_the_documents_have_a_line_for_each_server() -> None:
    assert table() in Path("docs/how-to/models.md").read_text("utf-8")
