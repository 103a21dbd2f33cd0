"""One message, or one item, in whichever form an agent is logged in.

Read are the messages of OpenAI's chat API and its near relations (Anthropic, inspect, tau-bench), the items
and responses of OpenAI's Responses API, and messages of LangChain (as dumped by `dumpd`, `messages_to_dict`
or `model_dump`), pydantic-ai, the GenAI conventions of OpenTelemetry, Gemini and ShareGPT.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from forethought.trajectories.values import Json, arguments, at, first, items, mapping, parsed, rows, text

ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
_SHARE_GPT = {"gpt": "assistant", "function_call": "assistant", "observation": "tool"}
_THINKING = ("thinking", "reasoning", "redacted_thinking")
_CALLS = ("tool_use", "tool_call")
_CLASS = re.compile(r"([A-Za-z]+)Message(?:Chunk)?")
_ITEM = re.compile(r"message|reasoning|\w+_(?:call|output)")
_MEDIA = re.compile(r"image|audio|video|file|document|binary|media|screenshot")
_CUT_OFF = ("length", "max_tokens", "max_output_tokens")

Failure = Literal["", "tool_execution_error", "llm_limit"]


@dataclass
class Said:
    """One message, whatever form it had."""

    role: str
    text: str = ""
    thought: str = ""
    calls: list[Json] = field(default_factory=list)
    """{name, arguments}, in order."""
    failure: Failure = ""
    files: list[str] = field(default_factory=list)
    """Names of attached files."""
    modules: Json = field(default_factory=dict)
    """AgentDebug's modules, if the reader separated them."""
    joins: bool = False
    """Whether it is part of one reply with its neighbours."""

    def add(self, part: Said) -> None:
        """Take in a further part of the same reply."""
        self.text = "\n".join(filter(None, (self.text, part.text)))
        self.thought = "\n".join(filter(None, (self.thought, part.thought)))
        self.calls += part.calls
        self.failure = self.failure or part.failure


def is_message(value: object) -> bool:
    """Whether `value` is a message in one of the known forms."""
    message = mapping(value)
    kind = text(message.get("type"))
    if message.get("lc") is not None:
        return bool(_CLASS.fullmatch(text((items(message.get("id")) or [""])[-1])))
    if message.get("kind") in ("request", "response"):
        return isinstance(message.get("parts"), list)
    if message.get("object") == "response":
        return isinstance(message.get("output"), list)
    if isinstance(message.get("from"), str):
        return "value" in message
    if kind in ROLES:
        return "content" in message or isinstance(message.get("data"), dict)
    return isinstance(message.get("role"), str) or bool(_ITEM.fullmatch(kind))


def parts_of(message: Json) -> Iterator[Said]:
    """What a message says, part by part where its form has parts."""
    kind = text(message.get("type"))
    if message.get("lc") is not None:
        found = _CLASS.fullmatch(text((items(message.get("id")) or [""])[-1]))
        yield from parts_of({"role": found[1] if found else "", **mapping(message.get("kwargs"))})
    elif kind in ROLES and isinstance(message.get("data"), dict):
        yield from parts_of({"type": kind, **message["data"]})
    elif isinstance(message.get("from"), str):
        words = message.get("value")
        made = rows(parsed(words)) if message["from"] == "function_call" else []
        role = _SHARE_GPT.get(message["from"], message["from"])
        yield _message({"role": role, "content": "" if made else words, "tool_calls": made})
    elif message.get("object") == "response":
        for item in items(message.get("output")):
            yield from parts_of(mapping(item))
    elif isinstance(message.get("parts"), list):
        own = ROLES.get(text(message.get("role")).casefold(), text(message.get("role")))
        asked = text(message.get("instructions"))
        yield from [Said("system", asked)] if asked else []
        cut_off = message.get("finish_reason") in _CUT_OFF
        for part in map(mapping, message["parts"]):
            yield from _part(part, own or "assistant", "llm_limit" if cut_off else "")
    elif kind != "message" and _ITEM.fullmatch(kind) and kind not in ROLES:
        yield from _part(message)
    else:
        said = _message(message)
        said.joins = kind == "message" and said.role == "assistant" and not said.calls
        yield said


def _message(message: Json) -> Said:
    raw = text(first(message, "role", "type"))
    role = ROLES.get(raw.casefold(), raw)
    if role != "assistant":
        error = message.get("error")
        blocks = [mapping(block) for block in items(message.get("content"))]
        failed = message.get("status") == "error" or message.get("is_error") is True or bool(error)
        failed = failed or any(block.get("is_error") is True for block in blocks)
        is_result = role == "tool" or any(block.get("type") == "tool_result" for block in blocks)
        said = content(message.get("content")) or text(mapping(error).get("message"))
        files = [name for block in blocks if (name := _file(block))]
        return Said(role, said, failure="tool_execution_error" if failed and is_result else "", files=files)
    old = message.get("function_call")
    listed = items(first(message, "tool_calls", "toolCalls") or at(message, "additional_kwargs.tool_calls"))
    calls = [call_of(mapping(call)) for call in listed or ([old] if old else [])]
    parts = [said for block in map(mapping, items(message.get("content"))) for said in _part(block)]
    thoughts = (
        text(first(message, "reasoning_content", "reasoning", "thought")),
        *(said.thought for said in parts),
    )
    ended = first(message, "finish_reason", "stop_reason", "response_metadata")
    ended = first(mapping(ended), "finish_reason", "stop_reason") if isinstance(ended, dict) else ended
    return Said(
        role,
        content(message.get("content")),
        "\n".join(filter(None, thoughts)),
        calls or [call for said in parts for call in said.calls],
        "llm_limit" if ended in _CUT_OFF else "",
        modules=mapping(message.get("modules")),
    )


def _part(part: Json, role: str = "assistant", failure: Failure = "") -> Iterator[Said]:
    """A part of a message of pydantic-ai (`part_kind`), OpenTelemetry (`type`) or Gemini, a block of
    Anthropic's, or an item of the Responses API: a thought, a call of any tool, its output, or words."""
    kind = text(first(part, "part_kind", "type")).replace("-", "_").removeprefix("builtin_")
    called = mapping(first(part, "function_call", "functionCall"))
    answered = mapping(first(part, "function_response", "functionResponse"))
    if called or answered:
        kind, part = ("tool_call", called) if called else ("tool_return", answered)
    said = content(first(part, "content", "response", "result", "output", "text", "tools"))
    failed = part.get("outcome") not in (None, "success") or part.get("status") in ("failed", "incomplete")
    if kind == "retry_prompt" or kind.endswith(("_output", "_return", "_response")):
        broke = failed or kind == "retry_prompt"
        yield Said("tool", said, failure="tool_execution_error" if broke else "")
    elif kind in ("system_prompt", "user_prompt"):
        yield Said(kind.removesuffix("_prompt"), said)
    elif role != "assistant":
        yield Said(role, said)
    elif kind in _THINKING:
        thoughts = (first(part, "thinking", "reasoning", "summary", "text", "value"), part.get("content"))
        thought = "\n".join(filter(None, map(content, thoughts)))
        yield Said("assistant", thought=thought.strip(), failure=failure, joins=True)
    elif kind in _CALLS or kind.endswith("_call"):
        made = {"action": first(part, "action", "code", "queries"), **part}
        call = call_of(made, kind.removesuffix("_call"))
        yield Said("assistant", calls=[call], failure=failure, joins=True)
        error, output = part.get("error"), first(part, "output", "outputs", "results")
        if error or output:
            yield Said(
                "tool", content(output) or text(error), failure="tool_execution_error" if error else ""
            )
    else:
        yield Said("assistant", said, failure=failure, joins=True)


def call_of(call: Json, otherwise: str = "") -> Json:
    """A call as {name, arguments}: OpenAI's `function`, LangChain's `args`, Anthropic's `input`, ..."""
    call = mapping(call.get("tool_call")) or call
    inner = mapping(call.get("function")) or mapping(parsed(call.get("value"))) or call
    named = first(inner, "name", "tool_name", "toolName", "tool", "function")
    return {
        "name": text(named) or otherwise or "(unnamed)",
        "arguments": arguments(first(inner, "arguments", "args", "input", "tool_input", "action")),
    }


def content(value: object) -> str:
    """The text of a message: text blocks joined, other blocks named."""
    if not isinstance(value, list):
        return text(value)
    return "\n".join(part for part in map(_block, value) if part)


def _block(value: object) -> str:
    block, kind = mapping(value), text(mapping(value).get("type"))
    if not block:
        return text(value)
    if kind in (*_THINKING, *_CALLS):
        return ""
    if kind == "tool_result":
        return content(block.get("content"))
    said = first(block, "text", "refusal", "logs", "content", "value")
    if said is None and _MEDIA.search(kind or text(block.get("kind"))):
        return f"[{' '.join(filter(None, (kind or block['kind'], _file(block))))}]"
    return text(block if said is None else said)


def _file(block: Json) -> str:
    """The name of the file that a block of a message brings, '' where it brings none."""
    return text(at(block, "filename", "file_name", "file.filename", "source.filename"))
