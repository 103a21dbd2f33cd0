"""Runs in small windows: a server that refuses longer prompts is never sent one, or not again."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest

from forethought.models.types import ConfigurationError
from forethought.tools.base import make_tool
from tests.support.agent import Drive, Script, World
from tests.support.model_server import Answer, Fault, SeenRequest
from tests.support.replies import answer, call, plan, sub

LONG = "\n".join(f"row {n}: the invoice of customer {n} over {n * 7} euros" for n in range(4_000))
TASK = {
    "task": "What do the invoices sum to? " + "Mind the rules of the trade. " * 400,
    "files": [{"name": "report.txt", "data": base64.b64encode(LONG.encode()).decode()}],
}


class Window:
    """A script behind a server with a window: it answers 400 to a prompt that exceeds it."""

    def __init__(self, script: Script, tokens: int, characters: float = 3.5) -> None:
        self.script, self.tokens, self.characters = script, tokens, characters
        self.refused: list[int] = []

    def __call__(self, seen: SeenRequest) -> Answer:
        words = "".join(text for _, text in seen.messages) + json.dumps(seen.schema or {})
        if (tokens := int(len(words) / self.characters)) <= self.tokens:
            return self.script(seen)
        self.refused.append(tokens)
        said = f"request ({tokens} tokens) exceeds the available context size ({self.tokens} tokens)"
        return Fault("400", message=said)


def script() -> Script:
    """Three workers that read much, one after the other, and a writer."""
    moves = {f"s{n}": [call(f"s{n}", finishes=False), call("x")] for n in range(3)}
    subtasks = [sub(f"s{n}", [f"s{n - 1}"] if n else []) for n in range(3)]
    return Script(plans=[plan(*subtasks)], moves=moves, answers=[answer()])


def world() -> World:
    return World({f"s{n}": [LONG] for n in range(3)})


@pytest.mark.parametrize("window", [4_096, 8_192])
async def test_no_prompt_exceeds_a_window_that_is_known(
    drive: Drive, window: int, caplog: pytest.LogCaptureFixture
) -> None:
    server = Window(script(), window)
    out = await drive(server, world(), task=TASK, effort="auto", context_tokens=window, max_steps=30)
    assert (out.status, server.refused) == ("answered", [])
    assert len(out.requests) >= 8
    assert any("characters left out" in seen.text for seen in out.requests)
    assert f"the window has {window:,} tokens" in str(out.state["skipped"])
    assert "did not fit the window" in caplog.text


@pytest.mark.parametrize("characters", [3.5, 2.2])
async def test_a_window_that_a_refusal_names_is_kept_from_then_on(drive: Drive, characters: float) -> None:
    server = Window(script(), 4_096, characters)
    out = await drive(server, world(), task=TASK, effort="auto", max_steps=30)
    assert out.status == "answered"
    assert server.refused
    assert "the window has 4,096 tokens" in str(out.state["skipped"])


async def test_a_window_without_room_for_the_tools_is_told_in_one_line(drive: Drive) -> None:
    async def search(query: str) -> str:
        """Search one of the many rooms of the library for a book."""
        return query

    tools = [replace(make_tool(search), name=f"search_room_{n}") for n in range(300)]
    with pytest.raises(ConfigurationError, match="offer fewer tools"):
        await drive(script(), tools=tools, effort="auto", context_tokens=4_096)
