"""What was recorded is served again, in any order; what was not is told; no secret is written."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from forethought.models import (
    ConfigurationError,
    Function,
    Message,
    Models,
    RecordingTransport,
    ReplayError,
    ReplayTransport,
    ReplyResult,
    ReplySpec,
    reply_spec,
)
from forethought.models.live import LiveTransport
from forethought.settings import Settings
from tests.support.model_server import ModelServer, Reply, SeenRequest, script

Start = Callable[..., ModelServer]
Make = Callable[..., Settings]
SYSTEM = "You echo numbers. " * 30


class Echo(BaseModel):
    number: int


async def ask(models: Models, number: int, role: str = "tool") -> ReplyResult[Echo]:
    messages = [Message("system", SYSTEM), Message("user", f"a line\nnumber {number}\nthe end")]
    return await models.ask(role=role, model="openai:gpt-4.1", messages=messages, reply=reply_spec(Echo))


def echo(seen: SeenRequest) -> Reply:
    number = int(seen.text.split("number ")[1].split()[0])
    bad = seen.n % 3 == 0 and "cannot be used" not in seen.text
    return Reply("no number" if bad else {"number": number}, prompt_tokens=50 + number)


def facts(asked: ReplyResult[Any]) -> Any:
    return asked.reply, asked.text, asked.repairs, asked.model, {**asked.usage, "seconds": 0}


@pytest.fixture
def recorder(model_server: Start, settings: Make, tmp_path: Path) -> Callable[..., tuple[Models, Path]]:
    def start(policy: Any = echo, **options: Any) -> tuple[Models, Path]:
        given = settings(model_server(policy, **options))
        path = tmp_path / "run.jsonl"
        return Models(
            given, RecordingTransport(LiveTransport(given), path, {"task": "echo", "files": []})
        ), path

    return start


async def test_a_replay_equals_its_recording_in_any_order(recorder: Any, settings: Make) -> None:
    models, path = recorder()
    recorded = {number: facts(await ask(models, number)) for number in range(8)}
    assert any(repairs for _, _, repairs, _, _ in recorded.values())
    for seed in range(3):
        order = list(recorded)
        random.Random(seed).shuffle(order)
        replay = Models(settings(), ReplayTransport(path))
        replay.verify(["openai:gpt-4.1"])
        got = await asyncio.gather(*(ask(replay, number) for number in order))
        assert {number: facts(asked) for number, asked in zip(order, got, strict=True)} == recorded


async def test_function_calls_are_replayed(recorder: Any, settings: Make) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }
    functions = (Function("go", "Go.", schema), Function("stop", "Stop.", schema))
    spec = ReplySpec("Move", schema, lambda value: value, functions=functions)
    models, path = recorder(script(Reply(calls=(("stop", {}),))))
    question: dict[str, Any] = {
        "role": "tool",
        "model": "m",
        "messages": [Message("user", "?")],
        "reply": spec,
    }
    first = await models.ask(**question)
    again = await Models(settings(), ReplayTransport(path)).ask(**question)
    assert first.reply == again.reply == {"function": "stop", "arguments": {}}


async def test_identical_requests_are_served_in_order_and_the_last_again(
    recorder: Any, settings: Make
) -> None:
    models, path = recorder(script({"number": 1}, {"number": 2}))
    for _ in range(2):
        await ask(models, 0)
    replay = Models(settings(), ReplayTransport(path))
    assert [(await ask(replay, 0)).reply.number for _ in range(4)] == [1, 2, 2, 2]


async def test_a_request_that_was_not_recorded(recorder: Any, settings: Make) -> None:
    models, path = recorder()
    await ask(models, 1)
    await ask(models, 22)
    replay = Models(settings(), ReplayTransport(path))
    await ask(replay, 1)
    with pytest.raises(ReplayError, match=r"no reply to call 2 \(tool, Echo\); record the run again"):
        await ask(replay, 23)


async def test_the_file_is_a_header_and_a_line_a_call_with_long_texts_once(recorder: Any) -> None:
    models, path = recorder()
    lines = path.read_text().splitlines()
    assert json.loads(lines[0]) == {"forethought_recording": 1, "task": "echo", "files": []}
    await ask(models, 1)
    await ask(models, 2)
    text = path.read_text()
    assert text.count(SYSTEM) == 1
    calls = [line for line in map(json.loads, text.splitlines()) if "key" in line]
    assert [(c["role"], c["reply_type"], c["model"]) for c in calls] == [
        ("tool", "Echo", "openai:gpt-4.1")
    ] * 2
    assert calls[1]["reply"] == {"text": '{"number": 2}', "calls": [], "finish_reason": "stop"}
    assert calls[1]["usage"] == {"input_tokens": 52, "output_tokens": 20, "cached_tokens": 0, "usd": None}


async def test_no_secret_is_written(recorder: Any, monkeypatch: pytest.MonkeyPatch, settings: Make) -> None:
    monkeypatch.setenv("SOME_API_KEY", 'sk-"quoted"-1234')
    monkeypatch.setenv("MY_TOKEN", "tok-9aK3xw7-abcdefgh")
    monkeypatch.setenv("SHORT_TOKEN", "a line")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "aws-9aK3xw7-abcdefgh")
    monkeypatch.setenv("DB_PASSWORD", "pass-9aK3xw7-abcdefgh")
    leak = 'sk-"quoted"-1234 tok-9aK3xw7-abcdefgh aws-9aK3xw7-abcdefgh pass-9aK3xw7-abcdefgh'
    models, path = recorder(script(Reply({"number": 1, "leak": leak})))
    messages = [Message("user", 'a line: my key is sk-"quoted"-1234')]
    question: dict[str, Any] = {"role": "tool", "model": "m", "messages": messages, "reply": reply_spec(Echo)}
    await models.ask(**question)
    text = path.read_text()
    assert "quoted" not in text
    assert "-abcdefgh" not in text
    assert "not-needed" not in text
    assert "a line: my key is [secret]" in text
    assert (await Models(settings(), ReplayTransport(path)).ask(**question)).reply.number == 1


HEADER = '{"forethought_recording": 1}\n'
TIRED = '{"key": "k", "reply": {"text": "{}", "calls": [], "finish_reason": "tired"}}'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file"),
        ("", "is empty"),
        ("hello\n", "line 1: not a recorded call"),
        ('{"task": "x"}\n', "line 1: not a recorded call (the first line must say forethought_recording: 1)"),
        (HEADER + '{"key": "a"}\n', "line 2: not a recorded call (KeyError: 'reply')"),
        (HEADER + "\n[]\n", "line 3: not a recorded call"),
        (HEADER + '{"key": "a", "mess', "line 2: not a recorded call"),
        (HEADER + TIRED, "line 2: not a recorded call"),
    ],
)
def test_a_bad_recording_is_one_clear_line(content: str | None, words: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ReplayError) as caught:
        ReplayTransport(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_recording_that_cannot_be_written(settings: Make, tmp_path: Path) -> None:
    inner = LiveTransport(settings())
    with pytest.raises(ConfigurationError, match="cannot write the recording"):
        RecordingTransport(inner, tmp_path / "missing" / "run.jsonl", {})
