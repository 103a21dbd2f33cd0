"""The digest of a trajectory that planner and reflector read: short where a result says it, long where it is
all there is to go by."""

from __future__ import annotations

from typing import Any, cast

from forethought.nodes.support.prompt_text import HEAD_CHARS, OPEN_CHARS, steps_text
from forethought.state.agent import Result, Step


def _step(n: int, subtask: str, observation: str, **given: Any) -> Step:
    values: dict[str, Any] = {
        "n": n,
        "subtask": subtask,
        "action": "call",
        "tool": "lookup",
        "arguments": {"key": n},
        "observation": observation,
        "ok": True,
        "cause": "",
        "surprise": "none",
    }
    return cast("Step", {**values, **given})


def _result(n: int) -> Result:
    return {"n": n, "text": "found", "origin": "tool:lookup"}


def test_what_an_unfinished_subtask_saw_last_is_shown_at_length() -> None:
    rows = "\n".join(f"row {k} | {k * 7}" for k in range(100))
    assert HEAD_CHARS < len(rows) < OPEN_CHARS
    text = steps_text([_step(1, "compute", rows)])
    assert rows in text


def test_it_is_cut_visibly_beyond_that() -> None:
    text = steps_text([_step(1, "compute", "x" * 50_000)])
    assert OPEN_CHARS < len(text) < OPEN_CHARS + 400
    assert "47000 characters left out" in text


def test_earlier_steps_of_the_subtask_and_its_failures_stay_short() -> None:
    long = "word " * 400
    failed = _step(3, "s", long, ok=False, cause="tool")
    text = steps_text([_step(1, "s", long), _step(2, "s", "last"), failed])
    assert len(text) < 2 * HEAD_CHARS + 500
    assert text.splitlines()[1].endswith(": ok: last")


def test_a_finished_subtask_is_told_by_its_result_alone() -> None:
    long = "word " * 400
    steps = [_step(1, "s", long), _step(2, "s", "found")]
    text = steps_text(steps, {"s": _result(2)})
    assert text.splitlines()[-1].endswith("see its result")
    assert len(text) < HEAD_CHARS + 300


def test_what_stands_whole_among_the_results_is_not_repeated() -> None:
    text = steps_text([_step(1, "s", "w" * 1000)], {"s": _result(1)})
    assert "wwww" not in text
