"""A long run is told in bounded prompts, and kept without copies of what it has found."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.digest import OBSERVATION_CHARS, result_items, step_items, step_text, steps_text
from nodes.long_run import MANY, MATERIAL_CHARS, MOST_LINES
from tests.support.agent import Drive, Script
from tests.support.replies import call, plan, sub

Step = Any


def steps(count: int, chars: int = 3_000, a_subtask: int = 5) -> list[Step]:
    """As many steps, `a_subtask` of each subtask, every tenth of them failed."""
    return [
        {
            "n": n,
            "subtask": f"s{(n - 1) // a_subtask}",
            "thought": "a thought",
            "action": "call",
            "tool": "lookup",
            "arguments": {"key": n},
            "expected": "",
            "observation": f"seen {n} " + "x" * chars,
            "ok": n % 10 != 0,
            "cause": "" if n % 10 else "tool",
            "surprise": "none",
            "origin": "tool:lookup",
        }
        for n in range(1, count + 1)
    ]


def test_an_ordinary_run_is_told_whole() -> None:
    whole = steps(60, chars=OBSERVATION_CHARS - 20)
    assert step_items(whole) == [{"n": step["n"], "text": step_text(step)} for step in whole]
    told = steps_text(whole)
    assert all(f"step {n} [s" in told for n in range(1, 61))
    results = {step["subtask"]: {"n": step["n"], "text": step["observation"], "origin": ""} for step in whole}
    assert all("left out" not in item["text"] for item in result_items(results))


@pytest.mark.parametrize("count", [500, 2_000])
def test_a_long_run_is_told_by_its_newest_steps_and_a_line_a_subtask_before_them(count: int) -> None:
    long = steps(count)
    first, *newest = step_items(long, lambda step: f"\nnoted {step['n']}")
    assert [item["n"] for item in newest] == list(range(count - MANY + 1, count + 1))
    assert newest[-1]["text"].endswith(f"noted {count}")
    assert first["n"] == f"1 to {count - MANY}"
    lines = first["text"].splitlines()
    assert len(lines) == min((count - MANY) // 5, MOST_LINES + 1)
    assert lines[-1].startswith(
        f"steps {count - MANY - 4} to {count - MANY} [s{(count - MANY) // 5 - 1}]: 5 steps,"
    )
    assert sum(len(item["text"]) for item in (first, *newest)) < MATERIAL_CHARS + 200_000
    assert len(steps_text(long)) < MATERIAL_CHARS + 100_000


def test_what_very_many_subtasks_share_a_line_says_how_many_failed() -> None:
    (first, *_) = step_items(steps(2_000))
    assert first["text"].splitlines()[0] == "steps 1 to 850: 850 steps of 170 subtasks, 85 failed"


def test_many_results_have_less_room_each() -> None:
    results: Any = {f"s{n}": {"n": n, "text": "y" * 9_000, "origin": ""} for n in range(1, 401)}
    items = result_items(results)
    assert [item["n"] for item in items] == list(range(1, 401))
    assert sum(len(item["text"]) for item in items) < MATERIAL_CHARS + 100_000
    assert len(items[-1]["text"]) > 10 * len(items[0]["text"])


async def test_a_checkpoint_holds_no_copy_of_what_was_found(drive: Drive) -> None:
    chain = [sub("s0"), *(sub(f"s{n}", [f"s{n - 1}"]) for n in range(1, 6))]
    moves = {f"s{n}": [call(f"key {n}")] for n in range(6)}
    out = await drive(Script(plans=[plan(*chain)], moves=moves), replanning=False)
    kept = await out.graph.checkpointer.aget_tuple(out.config)
    assert set(out.state["results"]) == {f"s{n}" for n in range(6)}
    assert not {"results", "long_term", "trajectory"} & set(kept.checkpoint["channel_values"])
