"""The text of steps and results in prompts: summaries, and the bounds that hold for a long run."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, cast

import pytest

from forethought.nodes.support.memory_text import memory_items, rounds_texts
from forethought.nodes.support.prompt_text import (
    HEAD_CHARS,
    OPEN_CHARS,
    Reader,
    result_items,
    step_items,
    step_text,
    steps_text,
    tool_record,
)
from forethought.nodes.support.shares import MANY
from forethought.nodes.support.situation import earlier_items
from forethought.sizes import Sizes
from forethought.state.agent import Result, Step
from tests.support.agent import Drive, Script
from tests.support.replies import call, plan, sub

SIZES, READER = Sizes(), Reader()


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


def steps(count: int, chars: int = 3_000, a_subtask: int = 5) -> list[Any]:
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


def test_an_ordinary_run_is_shown_whole() -> None:
    whole = steps(20, chars=12_000)
    assert step_items(whole, READER, SIZES.answer) == [
        {"n": step["n"], "text": step_text(step)} for step in whole
    ]
    digest = steps_text(whole)
    assert all(f"step {n} [s" in digest for n in range(1, 21))
    results = {step["subtask"]: {"n": step["n"], "text": step["observation"], "origin": ""} for step in whole}
    texts = [item["text"] for item in result_items(results, READER)]
    assert texts == [item["text"] for item in results.values()]


def test_the_newest_observation_is_whole_however_many_there_are_and_the_prompt_bounded() -> None:
    for sizes in (Sizes(), Sizes(8_000)):
        long = steps(500, chars=sizes.observation - 20)
        items = step_items(long, Reader(sizes, "nothing"), sizes.seen)
        assert items[-1]["text"] == step_text(long[-1])
        assert sum(len(item["text"]) for item in items) <= sizes.seen * 1.2
        assert len(steps_text(long, {}, Reader(sizes, "nothing"))) <= sizes.seen * 1.25


def test_a_prompt_that_grows_changes_what_it_showed_before_in_batches_only() -> None:
    long = steps(200, chars=6_000)
    prompts = [step_items(long[:count], READER, SIZES.seen) for count in range(1, 201)]
    same = [new[: len(old)] == old for old, new in pairwise(prompts)]
    assert same.count(False) <= 200 * 6_000 // (SIZES.seen // 3) + 200 // 20
    assert all(same[:20]), "nothing is cut as long as all fits"


@pytest.mark.parametrize("count", [500, 2_000])
def test_a_long_run_is_shown_by_its_newest_steps_and_a_line_a_subtask_before_them(count: int) -> None:
    long = steps(count)
    first, *newest = step_items(long, READER, SIZES.seen, lambda step: f"\nnoted {step['n']}")
    cut_off = count - len(newest)
    assert [item["n"] for item in newest] == list(range(cut_off + 1, count + 1))
    assert newest[-1]["text"].endswith(f"noted {count}")
    assert first["n"] == f"1 to {cut_off}"
    lines = first["text"].splitlines()
    assert lines[0].startswith("step")
    assert f"{cut_off} [s" in lines[-1]
    assert len(steps_text(long)) < SIZES.seen


def test_what_very_many_subtasks_share_a_line_says_how_many_failed() -> None:
    (first, *rest) = step_items(steps(2_000), READER, SIZES.seen)
    line, *others = first["text"].splitlines()
    count = 5 * (((2_000 - len(rest)) + 4) // 5 - len(others))
    assert line == f"steps 1 to {count}: {count} steps of {count // 5} subtasks, {count // 10} failed"


async def test_a_checkpoint_holds_no_copy_of_what_was_found(drive: Drive) -> None:
    chain = [sub("s0"), *(sub(f"s{n}", [f"s{n - 1}"]) for n in range(1, 6))]
    moves = {f"s{n}": [call(f"key {n}")] for n in range(6)}
    out = await drive(Script(plans=[plan(*chain)], moves=moves), replanning=False)
    kept = await out.graph.checkpointer.aget_tuple(out.config)
    assert set(out.state["results"]) == {f"s{n}" for n in range(6)}
    assert not {"results", "long_term", "trajectory"} & set(kept.checkpoint["channel_values"])


@pytest.mark.parametrize("count", [150, 1_000])
def test_the_arguments_of_many_steps_are_cut_as_their_observations_are(count: int) -> None:
    long = steps(count, chars=300)
    for step in long:
        step["arguments"] = {"code": "c" * 6_000}
        step["expected"] = "e" * 6_000
    assert sum(len(item["text"]) for item in step_items(long, READER, SIZES.seen)) < SIZES.seen * 1.2
    assert len(steps_text(long)) < SIZES.seen
    assert step_items(long, READER, SIZES.seen)[-1]["text"] == step_text(long[-1])


def test_ten_programs_are_shown_whole() -> None:
    whole = steps(10, chars=300)
    for step in whole:
        step["arguments"] = {"code": "c" * 6_000}
    assert step_items(whole, READER, SIZES.seen) == [
        {"n": step["n"], "text": step_text(step)} for step in whole
    ]


def test_of_very_many_results_the_newest_are_shown_and_the_others_named() -> None:
    results: Any = {f"s{n}": {"n": n, "text": "y" * 9_000, "origin": ""} for n in range(1, 2_001)}
    first, *rest = result_items(results, READER)
    assert (first["id"], first["n"]) == ("earlier", f"1 to {2_000 - len(rest)}")
    assert first["text"].startswith("These stand as well: s1, s2, ")
    assert [item["n"] for item in rest] == list(range(2_001 - len(rest), 2_001))
    assert len(rest) >= 100
    assert sum(len(item["text"]) for item in rest) <= SIZES.results


def test_the_memory_of_a_subtask_that_goes_on_and_on_is_bounded() -> None:
    memory: Any = {
        "rejected": [],
        "failures": [
            {"n": n, "tool": "t", "arguments": {"code": "c" * 5_000}, "cause": "tool", "error": "e" * 5_000}
            for n in range(1_000)
        ],
    }
    items = memory_items(memory, SIZES)
    assert [item["id"] for item in items] == [f"failure:{n}" for n in range(1_000 - len(items), 1_000)]
    assert len(items) > MANY // 3
    assert sum(len(item["text"]) for item in items) < 1.5 * SIZES.written


def test_rounds_and_earlier_tasks_and_failures_are_bounded() -> None:
    record: Any = {
        "round": 1,
        "steps": [1, 2_000],
        "score": 3,
        "plan": [{"id": "a", "description": "d" * 500, "status": "finished"}] * 400,
        "failures": {
            str(n): {"subtask": "a", "tool": "t", "cause": "c", "error": "e" * 600} for n in range(99)
        },
        "errors": [],
        "answer": "no",
        "evaluation": "the last words",
        "reflection": "the last words",
    }
    texts = rounds_texts({str(n): {**record, "round": n} for n in range(1, 21)}, SIZES)
    assert sum(map(len, texts)) < 1.2 * SIZES.written
    assert all(text.endswith("the last words") for text in texts)
    earlier = [{"task": "t" * 300, "answer": "a" * 4_000, "status": "answered"}] * 1_000
    items = earlier_items({"earlier": earlier}, SIZES)  # type: ignore[typeddict-item]
    assert len(items) > MANY // 3
    assert sum(len(item["task"] + item["answer"]) for item in items) < 1.5 * SIZES.written
    failed = steps(2_000)
    assert tool_record(failed, SIZES).splitlines()[0] == "lookup: 2000 calls, 200 failed"
    assert MANY // 2 < tool_record(failed, SIZES).count("\n  step ") <= MANY


def test_a_call_that_the_person_edited_is_marked() -> None:
    edited = _step(1, "w", "noted", approval="edited", thought="", expected="", origin="tool:lookup")
    assert 'move (edited by the person): lookup({"key": 1})' in step_text(edited)
    assert "ok, edited by the person: noted" in steps_text([edited])
