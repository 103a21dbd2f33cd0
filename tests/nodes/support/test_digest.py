"""What the answer's prompt shows of steps that somebody has digested."""

from __future__ import annotations

from typing import Any

import pytest

from forethought.nodes.support.digest import digested_steps
from forethought.nodes.support.prompt_text import Reader, step_items
from forethought.sizes import Sizes, extent
from tests.support.agent import Drive, Driven, Script, World
from tests.support.replies import call, checked, finish, plan, sub
from tests.support.sample_state import step

SUM = "in all 77" + " z" * 900


def shown(out: Driven) -> str:
    return str(out.asked("AnswerDraft")[0].text)


async def run(drive: Drive, size: int = 400, effort: str = "auto") -> Driven:
    """Two readings, a sum that depends on one of them, and a subtask that reads twice and hands over."""
    keys = "abcde"
    world = World({key: [f"Head of {key}.\n{'A line. ' * 3 * size}\nEnd of {key}."] for key in keys})
    script = Script(
        plans=[plan(sub("a"), sub("b"), sub("c", ["a"]), sub("d"))],
        moves={
            "d": [call("d", finishes=False), call("e", finishes=False), finish("in all 77 " + "z " * 900)]
        },
        answers=[checked("77")],
    )
    out: Driven = await drive(script, world, effort=effort)
    return out


async def test_what_was_digested_is_cut_and_the_rest_is_whole(drive: Drive) -> None:
    out = await run(drive)
    text = shown(out)
    wanted = {"a": False, "b": True, "c": True, "d": False, "e": False}
    steps = {s["arguments"].get("key"): s for s in out.steps if s["tool"]}
    assert {key: steps[key]["observation"] in text for key in "abcde"} == wanted
    assert all(f"Head of {key}." in text for key in "abcde"), "each keeps its beginning"
    assert SUM in text, "what a worker hands over is whole"


async def test_small_steps_are_whole(drive: Drive) -> None:
    out = await run(drive, size=20)
    assert digested_steps(out.state)
    assert all(f"End of {key}." in shown(out) for key in "abcde")
    assert "not shown" not in shown(out)


async def test_the_paper_digests_nothing(drive: Drive) -> None:
    out = await run(drive, effort="paper")
    assert all(s["observation"] in shown(out) for s in out.steps)


async def test_a_discarded_result_was_not_digested() -> None:
    steps = [step(1, "a"), step(2, "b", action="finish", tool=None)]
    state: Any = {
        "plan": {"subtasks": [{"id": "b", "depends_on": ["a"], "status": "finished"}]},
        "results": {"b": {"n": 2, "text": "t", "origin": "model"}},
        "trajectory": steps,
        "progress": {"base_n": 0},
    }
    assert digested_steps(state) == frozenset()
    state["results"]["a"] = {"n": 1, "text": "t", "origin": "model"}
    assert digested_steps(state) == {1}


@pytest.mark.parametrize("window", [8_000, 32_000, 128_000])
def test_digested_steps_fit_and_all_of_a_hundred_are_named(window: int) -> None:
    seen = [f"Bin {n} holds {n} units.\n{'x' * 900}" for n in range(1, 101)]
    steps = [step(n, "a", observation=text, ok=True) for n, text in enumerate(seen, 1)]
    last = step(101, "a", action="finish", tool=None, observation="in all 5050", ok=True, finished=True)
    sizes = Sizes(window)
    items = step_items([*steps, last], Reader(sizes, "sum"), sizes.answer, digested=range(1, 101))
    text = "\n".join(item["text"] for item in items)
    assert extent(text) <= sizes.answer
    assert "in all 5050" in text
    if window == 128_000:
        assert all(f"Bin {n} holds" in text for n in range(1, 101))
