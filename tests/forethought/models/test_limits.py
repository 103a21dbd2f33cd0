"""Limits on replies: cut replies, replies without end, slow servers."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from pydantic import BaseModel

from forethought.models import Message, Models, TransportError, reply_spec
from forethought.models.limits import LEAST, REASONING, reply_limit, with_room
from forethought.models.listening import runs_away
from tests.forethought.models.conftest import Serve
from tests.support.model_server import Fault, Reply, SeenRequest

SMALL = 8_192
STORY = "The river flows from its spring in the hills down to the wide and quiet sea beyond the town. "


class Note(BaseModel):
    note: str


async def ask(models: Models, **options: Any) -> Any:
    given = {"role": "answer", "model": "openai:m", "messages": [Message("user", "?")], **options}
    return await models.ask(**given, reply=reply_spec(Note))


@pytest.mark.parametrize("role", ["planner", "tool", "answer", "reflector", "anything"])
def test_a_limit_leaves_most_of_the_window_to_the_prompt(role: str) -> None:
    for window in (4_096, SMALL, 16_000, 32_000, 128_000):
        assert LEAST <= reply_limit(role, window) <= window / 16 + 1


@pytest.mark.parametrize(
    ("name", "profile", "room"),
    [
        ("gpt-4.1", {}, 0),
        ("o3-mini", {}, REASONING),
        ("Qwen/Qwen3-8B", {}, REASONING),
        ("deepseek-r1:14b", {}, REASONING),
        ("unheard-of", {"reasoning_output": True}, REASONING),
    ],
)
def test_a_model_that_reasons_has_room_for_it(name: str, profile: dict[str, Any], room: int) -> None:
    assert with_room(1_000, 128_000, name, profile) == 1_000 + room
    assert with_room(1_000, 128_000, name, {**profile, "max_output_tokens": 900}) == 900


async def test_a_reply_that_our_limit_cut_is_asked_for_once_with_a_higher_one(serve: Serve) -> None:
    def policy(seen: SeenRequest) -> Reply:
        limit = seen.body["max_tokens"]
        if limit < 18_000:
            return Reply('{"note": "cut', finish_reason="length", completion_tokens=limit)
        return Reply({"note": "whole"})

    models, server = serve(policy)
    asked = await ask(models)
    assert (asked.reply.note, asked.repairs, asked.usage["cut"]) == ("whole", 0, 1)
    assert [seen.body["max_tokens"] for seen in server.requests] == [6_000, 18_000]
    assert server.requests[0].messages == server.requests[1].messages


async def test_in_a_small_window_a_shorter_reply_is_asked_for(serve: Serve) -> None:
    models, server = serve(
        Reply('{"note": "cut', finish_reason="length", completion_tokens=512), {"note": "a"}
    )
    asked = await ask(models, window=SMALL)
    assert (asked.repairs, asked.usage["cut"]) == (1, 1)
    assert [seen.body["max_tokens"] for seen in server.requests] == [512, 512]
    assert "shorter" in server.requests[1].last


async def test_a_reply_that_repeats_itself_is_stopped_and_asked_for_again(serve: Serve) -> None:
    models, _ = serve(Reply(json.dumps({"note": STORY * 200})), {"note": "short"})
    heard: list[str] = []

    async def hear(text: str) -> None:
        heard.append(text)

    asked = await ask(models, listener=hear)
    assert (asked.reply.note, asked.usage["cut"], asked.repairs) == ("short", 1, 1)
    assert max(map(len, heard)) < 2_000


@pytest.mark.parametrize(
    ("text", "away"),
    [
        (STORY * 20, True),
        (" " * 700, True),
        ('{"a": ["find", "find_by"' + ', "find_by_list"' * 50, True),
        (STORY * 3, False),
        (
            "".join(f"| row {number} | {number * 37 % 91} | {number * number} |\n" for number in range(90)),
            False,
        ),
        (json.dumps([{"id": n, "needs": [n - 1], "about": f"part {n}"} for n in range(60)], indent=2), False),
    ],
)
def test_what_repeats_itself(text: str, away: bool) -> None:
    assert any(runs_away(text[:end]) for end in range(100, len(text), 100)) is away


def test_a_server_that_ignores_the_limit_is_stopped() -> None:
    text = "".join(f"{number} is followed by {number + 1}. " for number in range(2_000))
    assert runs_away(text, 256)
    assert not runs_away(text[:2_000], 256)


async def test_a_slow_reply_has_all_the_time_that_it_needs_while_it_grows(serve: Serve) -> None:
    models, server = serve(Reply({"note": "x" * 40}, pause_s=0.1), request_timeout_s=0.7, request_retries=0)
    started = time.monotonic()
    assert (await ask(models, window=SMALL)).reply.note == "x" * 40
    assert time.monotonic() - started > 1
    assert server.requests[0].body["stream"]


async def test_a_reply_that_came_too_late_as_a_whole_is_streamed_the_next_time(serve: Serve) -> None:
    models, server = serve(Reply({"note": "x" * 40}, pause_s=0.1), request_timeout_s=0.7, request_retries=1)
    assert (await ask(models)).reply.note == "x" * 40
    assert [bool(seen.body.get("stream")) for seen in server.requests] == [False, True]


async def test_a_stream_that_stands_still_is_given_up(serve: Serve) -> None:
    models, _ = serve(Reply({"note": "x" * 40}, pause_s=5), request_timeout_s=0.3, request_retries=0)
    with pytest.raises(TransportError):
        await ask(models, window=SMALL)


async def test_prose_leads_to_the_next_method_at_once(serve: Serve) -> None:
    models, server = serve(lambda seen: {"note": "a"} if seen.method == "object" else Reply("Gladly!"))
    for expected in (["schema", "function", "object"], ["schema", "function", "object"], ["object"]):
        before = len(server.requests)
        assert (await ask(models)).reply.note == "a"
        assert [seen.method for seen in server.requests[before:]] == expected


async def test_a_server_that_fails_twice_on_a_form_is_asked_in_another(serve: Serve) -> None:
    def policy(seen: SeenRequest) -> Fault | dict[str, str]:
        return Fault("500", message="boom") if seen.method == "schema" else {"note": "a"}

    models, server = serve(policy)
    for _ in range(2):
        assert (await ask(models)).reply.note == "a"
    assert [seen.method for seen in server.requests] == ["schema", "schema", "function", "function"]
