"""Brute force and binary search (AgentDebug 4.1): what they find, and how many probes they need."""

from __future__ import annotations

from math import ceil, log2
from typing import Any

import pytest

from forethought.rollouts.types import RolloutError
from tests.support.debugging import GOLD, Debug, Reader, TruthfulWorld, asked_step, critical, trajectory
from tests.support.model_server import Fault, SeenRequest


def salvaged(test: Any) -> Reader:
    """A model that judges a run saved at the steps for which `test` holds."""

    def reply(seen: SeenRequest) -> dict[str, Any]:
        return {"reasoning": f"judged {asked_step(seen)}", "saved": test(asked_step(seen))}

    return Reader(replies={"Salvage": reply})


async def test_brute_force_goes_from_the_first_step_to_the_first_that_saves_the_run(debug: Debug) -> None:
    out = await debug(trajectory(8), salvaged(lambda step: step in (5, 7)), method="brute_force")
    assert [asked_step(seen) for seen in out.asked("Salvage")] == [1, 2, 3, 4, 5]
    assert out.kinds[5:] == ["CriticalError"]
    assert out["critical"]["critical_step"] == 5
    assert out["critical"]["method"] == "brute_force"
    assert [probe["flips"] for probe in out["probes"]] == [0, 0, 0, 0, 1]
    assert out["usage"]["probe"]["calls"] == 5


async def test_the_step_that_was_found_stands_and_only_its_module_is_asked_for(debug: Debug) -> None:
    reader = salvaged(lambda step: step == 2)
    reader.replies = {**reader.replies, "CriticalError": [critical(3), critical(2)]}
    out = await debug(trajectory(4), reader, method="brute_force")
    assert "critical_step must be 2" in out.asked("CriticalError")[1].last
    assert out["critical"]["critical_step"] == 2


async def test_where_no_step_saves_the_run_none_is_critical(debug: Debug) -> None:
    for method in ("brute_force", "binary_search"):
        out = await debug(trajectory(3), salvaged(lambda step: False), method=method)
        assert out["status"] == "not_found"
        assert "CriticalError" not in out.kinds
        assert out["critical"] == {}


@pytest.mark.parametrize("count", [1, 2, 7, 30, 100])
@pytest.mark.parametrize("place", [0.0, 0.4, 1.0])
async def test_binary_search_needs_no_more_than_log_n_probes(debug: Debug, count: int, place: float) -> None:
    truth = 1 + int(place * (count - 1))
    out = await debug(trajectory(count), salvaged(lambda step: step <= truth), method="binary_search")
    assert out["critical"]["critical_step"] == truth
    assert len(out.asked("Salvage")) <= ceil(log2(count + 1))


async def test_the_two_ask_different_questions(debug: Debug) -> None:
    alone = await debug(trajectory(2), salvaged(lambda step: True), method="brute_force")
    still = await debug(trajectory(2), salvaged(lambda step: True), method="binary_search")
    assert "as the same agent" in alone.asked("Salvage")[0].role_text
    assert "a capable agent takes over" in still.asked("Salvage")[0].role_text


async def test_where_the_run_can_be_made_on_brute_force_tries_instead_of_judging(debug: Debug) -> None:
    run = trajectory(6)
    world = TruthfulWorld(run, {4: [True]}, gone=[2])
    out = await debug(run, Reader(), method="brute_force", rollouts=lambda *_: world, expect=GOLD)
    assert "Salvage" not in out.kinds
    assert out["critical"]["critical_step"] == 4
    assert world.calls == [(1, "corrected 1"), (3, "corrected 3"), (4, "corrected 4")]
    assert any("checkpoint before step 2 is gone" in note for note in out["notes"])


async def test_a_run_that_cannot_be_made_on_here_is_judged_instead(debug: Debug) -> None:
    def nowhere(*_: Any) -> Any:
        raise RolloutError("only threads can be run again here")

    out = await debug(
        trajectory(3), salvaged(lambda step: step == 2), method="brute_force", rollouts=nowhere, expect=GOLD
    )
    assert out["critical"]["critical_step"] == 2


async def test_binary_search_tries_too(debug: Debug) -> None:
    run = trajectory(16)
    world = TruthfulWorld(run, {step: [True] for step in range(1, 12)})
    out = await debug(run, Reader(), method="binary_search", rollouts=lambda *_: world, expect=GOLD)
    assert out["critical"]["critical_step"] == 11
    assert len(world.calls) <= 5


async def test_a_search_stops_when_the_budget_is_spent(debug: Debug) -> None:
    out = await debug(trajectory(30), salvaged(lambda step: False), method="brute_force", max_tokens=1000)
    assert len(out.asked("Salvage")) == 9, "120 tokens each"
    assert out["status"] == "failed"
    assert "the budget of 1000 tokens is spent, after 9 probes" in out["problem"]
    assert len(out["probes"]) == 9


async def test_a_step_that_cannot_be_judged_counts_as_not_saved(debug: Debug) -> None:
    reader = Reader(replies={"Salvage": [Fault("refusal"), {"reasoning": "", "saved": True}]})
    out = await debug(trajectory(3), reader, method="brute_force")
    assert out["critical"]["critical_step"] == 2
    assert "refused" in out["probes"][0]["reasoning"]


async def test_a_step_that_is_left_as_it_was_was_not_corrected(debug: Debug) -> None:
    run = trajectory(3)
    world = TruthfulWorld(run, {3: [True]}, by_chance={1: [True], 2: [True]})

    def reply(seen: SeenRequest) -> dict[str, Any]:
        number = asked_step(seen)
        return {"thought": "so it is", "action": "look up" if number == 3 else f"open drawer {number}"}

    reader = Reader(replies={"Substitution": reply})
    out = await debug(run, reader, method="brute_force", rollouts=lambda *_: world, expect=GOLD)
    assert out["critical"]["critical_step"] == 3
    assert world.calls == [(3, "look up")]
