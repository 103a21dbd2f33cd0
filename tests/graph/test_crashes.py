"""Killed at any moment, a thread goes on: no effect twice, no finished step lost, and only the model
calls of nodes under way are made again (see tests/support/crashes.py)."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from forethought.settings import Settings
from tests.support.crashes import Moment, Seen, Witness
from tests.support.paying import WIDTH, World, to_the_end

Json = dict[str, Any]
REVISING = 2
"""Maximum model calls of a node: after a kill it repeats them."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


async def test_killed_at_any_moment_nothing_is_done_twice_and_nothing_is_lost(settings: Settings) -> None:
    whole = Seen()
    witness = Witness(whole)
    state, replies = await to_the_end(World(whole, settings).graph(witness), whole)
    check(state, whole)
    assert (replies, max(Counter(whole.asked).values())) == ([], 1)
    assert len(witness.moments) > 40

    asked_of_the_person: list[str] = []
    for moment in witness.moments:
        asked_of_the_person += await survives(moment, whole, settings)
    assert {"it happened", "do it again"} <= set(asked_of_the_person), "killed on both sides of the effect"


async def test_killed_again_while_a_call_is_made_again_the_effect_is_still_one(settings: Settings) -> None:
    whole = Seen()
    witness = Witness(whole)
    await to_the_end(World(whole, settings).graph(witness), whole)
    first = next(moment for moment in witness.moments if _intends(moment) and not moment.seen.effects)

    seen = copy.deepcopy(first.seen)
    second = Witness(seen, first.saver)
    _, replies = await to_the_end(World(seen, settings).graph(second), seen)
    assert replies == ["do it again"]

    replies = []
    done = next(at for at, moment in enumerate(second.moments) if moment.seen.effects)
    for moment in second.moments[: done + 3]:
        replies += await survives(moment, whole, settings)
    assert {"do it again", "do it again (2)", "it happened"} <= set(replies)


def _intends(moment: Moment) -> bool:
    return any(entry["key"].endswith("1 intent") for entry in moment.journal)


async def survives(moment: Moment, whole: Seen, settings: Settings) -> list[str]:
    """Go on from a moment as a new process does, and hold what came of it against the run without a kill."""
    seen = copy.deepcopy(moment.seen)
    state, replies = await to_the_end(World(seen, settings).graph(moment.saver), seen)
    check(state, seen)
    repeated = Counter(seen.asked) - Counter(whole.asked)
    assert sum(repeated.values()) <= REVISING * WIDTH
    assert not Counter(whole.asked) - Counter(seen.asked)
    assert sum((Counter(seen.reads) - Counter(whole.reads)).values()) <= WIDTH
    return replies


def check(state: Json, seen: Seen) -> None:
    """The task is answered, every step is there once, and every effect."""
    assert state["status"] == "answered"
    steps = sorted(state["trajectory"], key=lambda step: step["n"])
    assert [step["n"] for step in steps] == [1, 2, 3, 4, 5]
    assert all(step["ok"] for step in steps)
    assert [name.split()[0] for name in seen.effects] == ["rent"]
    program = next(step for step in steps if step["tool"] == "python")
    assert [item["observation"] for item in program["sub_steps"]] == ["value of one", "value of two"]
    calls = {role: usage["calls"] for role, usage in state["usage"].items()}
    assert (calls["tool"], calls["tool_intra"]) == (5, 1)
