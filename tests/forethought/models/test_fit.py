"""Prompts within the window: what is cut, what stays, and what a server's refusal tells."""

from __future__ import annotations

import pytest

from forethought.models.fit import fit, told_window
from forethought.models.types import Message
from forethought.text import fence

RULES = Message("system", "Follow the rules.\n" * 10)
TASK = fence("What does <b> cost?", "task")
LONG = "\n".join(f"line {n}" for n in range(2_000))


def prompt(*blocks: str) -> list[Message]:
    return [RULES, Message("user", "\n\n".join([TASK, *blocks, "Your role: worker"]))]


def test_a_prompt_that_fits_stays_as_it_is() -> None:
    messages = prompt(fence("short", "step", number=1))
    assert fit(messages, {}, 1_000, 100) == (tuple(messages), 0)


@pytest.mark.parametrize("window", [600, 1_000, 4_000])
def test_the_longest_material_is_cut_until_the_prompt_fits(window: int) -> None:
    short = fence("total: 12", "step", number=1)
    messages, missing = fit(prompt(short, fence(LONG, "result"), fence(LONG, "file")), {}, window, 100)
    text = messages[1].text
    assert sum(len(message.text) for message in messages) <= (window - 100) * 3
    assert missing > 20_000
    assert text.count("characters left out") == 2
    assert all(part in text for part in (TASK, short, "line 0", "line 1999", "Your role: worker"))
    assert messages[0] == RULES


def test_a_task_that_exceeds_the_window_is_cut_too() -> None:
    messages, _ = fit([RULES, Message("user", fence(LONG, "task"))], {}, 800, 100)
    assert len(messages[1].text) < 2_000
    assert messages[1].text.endswith("</task>")


def test_a_prompt_without_material_to_cut_is_refused() -> None:
    with pytest.raises(ValueError, match="the window has 500"):
        fit([Message("system", LONG), Message("user", TASK)], {}, 500, 100)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("This model's maximum context length is 2048 tokens. However, you requested 5000 tokens", 2048),
        ("request (5092 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096),
        ("the model is loaded with context length of only 4096 tokens, which is not enough", 4096),
        ("the request exceeds the available context size. try increasing the context size", 8_000),
        ("This model's maximum context length is 128000 tokens", 8_000),
        ("'response_format' is not supported with this model", None),
    ],
)
def test_a_refusal_of_a_long_prompt_names_the_window(words: str, told: int | None) -> None:
    assert told_window(words, 8_000) == told
