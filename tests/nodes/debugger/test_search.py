"""Searches for the critical step: brute force, binary search (AgentDebug 4.1), counterfactual testing where
the truth is known (3.2)."""

from __future__ import annotations

from math import ceil, log2
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.nodes.debugger.search import wilson
from tests.support.debugging import GOLD, Debug, Reader, TruthfulWorld, asked_step, critical, trajectory
from tests.support.model_server import Reply, SeenRequest


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


@pytest.mark.parametrize(
    ("count", "place"), [(1, 0.0), (2, 1.0), (7, 0.4), (30, 0.0), (100, 0.4), (100, 1.0)]
)
async def test_binary_search_needs_no_more_than_log_n_probes(debug: Debug, count: int, place: float) -> None:
    truth = 1 + int(place * (count - 1))
    out = await debug(trajectory(count), salvaged(lambda step: step <= truth), method="binary_search")
    assert out["critical"]["critical_step"] == truth
    assert len(out.asked("Salvage")) <= ceil(log2(count + 1))


@pytest.mark.parametrize("method", ["brute_force", "binary_search", "counterfactual"])
async def test_where_no_step_saves_the_run_none_is_critical(debug: Debug, method: str) -> None:
    reader = salvaged(lambda step: False)
    runs = (
        {"rollouts": lambda *_: TruthfulWorld(RUN, {}), "expect": GOLD} if method == "counterfactual" else {}
    )
    out = await debug(RUN, reader, method=method, trials=1, fine_grained=False, **runs)
    assert (out["status"], out["critical"]) == ("not_found", {})
    assert "CriticalError" not in out.kinds
    assert len(out["probes"]) == (3 if method == "binary_search" else 6)


async def test_a_search_stops_when_the_budget_is_spent(debug: Debug) -> None:
    out = await debug(trajectory(30), salvaged(lambda step: False), method="brute_force", max_tokens=1000)
    assert len(out.asked("Salvage")) == 9, "120 tokens each"
    assert out["status"] == "failed"
    assert "the budget of 1000 tokens is spent" in out["problem"]
    assert len(out["probes"]) == 9


RUN = trajectory(6)


async def run_in(debug: Debug, world: TruthfulWorld, reader: Reader | None = None, **options: Any) -> Any:
    """Debug `RUN` in `world` without labels."""
    chosen = {"method": "counterfactual", "fine_grained": False, "expect": GOLD, **options}
    return await debug(RUN, reader or Reader(), rollouts=lambda *_: world, **chosen)


@pytest.mark.parametrize("truth", [1, 2, 6])
async def test_the_step_that_turns_the_run_is_found(debug: Debug, truth: int) -> None:
    world = TruthfulWorld(RUN, {truth: [True], 6: [True]})
    out = await run_in(debug, world, trials=2)
    assert out["critical"]["critical_step"] == truth
    assert out["critical"]["method"] == "counterfactual"
    tries = [probe for probe in out["probes"] if not probe["control"]]
    assert [(probe["step"], probe["flips"], probe["trials"]) for probe in tries] == [
        (step, 2 if step == truth else 0, 2) for step in range(1, truth + 1)
    ]
    last = out["probes"][-1]
    assert (last["control"], last["substitution"], last["flips"]) == (True, f"open drawer {truth}", 0)
    assert len(world.calls) == 2 * truth + 2


async def test_the_rate_decides_and_has_an_interval(debug: Debug) -> None:
    world = TruthfulWorld(RUN, {2: [True, False, False, False], 3: [True, True, True, False]})
    out = await run_in(debug, world, trials=4, flip_rate=0.5)
    assert out["critical"]["critical_step"] == 3
    rates = {probe["step"]: probe["rate"] for probe in out["probes"] if not probe["control"]}
    assert rates == {1: 0.0, 2: 0.25, 3: 0.75}
    probe = next(p for p in out["probes"] if p["step"] == 3 and not p["control"])
    assert (round(probe["low"], 2), round(probe["high"], 2)) == (0.30, 0.95)
    (asked,) = out.asked("CriticalError")
    assert "succeeded 3 of 4 times, and 0 of 4 times with its own action" in asked.text


@pytest.mark.parametrize(
    ("trials", "turning", "chance", "proven"),
    [
        (4, [True], [False], True),
        (3, [True], [False], False),
        (4, [True, True, False, True], [False], False),
        (20, [True], [True, False, False, False, False, True] + [False] * 14, True),
        (4, [True], [True, False], False),
    ],
)
async def test_a_step_is_proven_where_its_interval_lies_above_the_control_s(
    debug: Debug, trials: int, turning: list[bool], chance: list[bool], proven: bool
) -> None:
    out = await run_in(debug, TruthfulWorld(RUN, {3: turning}, by_chance={3: chance}), trials=trials)
    assert out["critical"]["critical_step"] == 3
    assert out["critical"]["proven"] is proven
    corrected, control = out["probes"][-2:]
    assert (corrected["low"] > control["high"]) is proven
    (asked,) = out.asked("CriticalError")
    assert ("suggests that this step decided the run" in asked.text) is not proven
    assert any("step 3 is suggested, not proven" in note for note in out["notes"]) is not proven


async def test_a_run_that_turns_by_chance_is_not_put_down_to_its_step(debug: Debug) -> None:
    world = TruthfulWorld(RUN, {2: [True], 4: [True]}, by_chance={2: [True, True, False, True]})
    out = await run_in(debug, world)
    assert out["critical"]["critical_step"] == 4
    assert any("step 2: the run succeeds about as often without" in note for note in out["notes"])


async def test_a_replay_that_diverges_is_reported_and_not_counted(debug: Debug) -> None:
    world = TruthfulWorld(RUN, {2: [True], 4: [True]}, diverging=[2])
    out = await run_in(debug, world)
    assert out["critical"]["critical_step"] == 4
    assert any("step 2: 4 of 4 replays do not count: at step 1" in note for note in out["notes"])
    probe = next(p for p in out["probes"] if p["step"] == 2)
    assert (probe["trials"], probe["low"], probe["high"]) == (0, 0.0, 1.0)
    assert "otherwise" in probe["diverged"]


async def test_a_step_that_cannot_be_run_from_is_named_and_passed_over(debug: Debug) -> None:
    out = await run_in(debug, TruthfulWorld(RUN, {3: [True]}, gone=[1, 2]))
    assert out["critical"]["critical_step"] == 3
    assert any("the checkpoint before step 1 is gone" in note for note in out["notes"])
    none = await run_in(debug, TruthfulWorld(RUN, {}, gone=range(1, 7)))
    assert (none["status"], none["critical"]) == ("failed", {})
    assert "no step could be run again" in none["problem"]


async def test_an_action_that_needs_no_correction_is_not_run(debug: Debug) -> None:
    def own(seen: Any) -> dict[str, str]:
        step = asked_step(seen)
        return {"thought": "it was right", "action": f"open drawer {step}" if step < 3 else "take the key"}

    world = TruthfulWorld(RUN, {3: [True]}, by_chance={1: [True]})
    out = await run_in(debug, world, Reader(replies={"Substitution": own}))
    assert out["critical"]["critical_step"] == 3
    assert world.calls[0] == (3, "take the key")


async def test_a_spent_budget_keeps_what_was_tried(debug: Debug) -> None:
    dear = Reply({"thought": "", "action": "take the key"}, prompt_tokens=400)
    reader = Reader(replies={"Substitution": [dear]})
    out = await run_in(debug, TruthfulWorld(RUN, {}), reader, trials=1, max_tokens=1000)
    assert out["status"] == "failed"
    assert "the budget of 1000 tokens is spent" in out["problem"]
    assert [(probe["step"], probe["trials"]) for probe in out["probes"]] == [(1, 1), (2, 1)]
    assert out["usage"]["probe"]["calls"] == 3


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_rate_and_stays_between_0_and_1(counts: tuple[int, int]) -> None:
    flips, trials = counts
    low, high = wilson(flips, trials)
    assert wilson(0, 0) == (0.0, 1.0)
    assert [round(x, 3) for x in wilson(5, 10)] == [0.237, 0.763]
    assert 0 <= low <= flips / trials + 1e-9
    assert flips / trials - 1e-9 <= high <= 1
