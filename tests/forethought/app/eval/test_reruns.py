"""`eval run --method agentdebug`: failed tries are re-run, by baselines at the same tokens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.planted_faults.world import BENCHMARK, prices_of
from forethought.evals.actions import call_text
from forethought.evals.environments.small_shop.goods import catalogue
from forethought.trajectories.read import read_trajectories
from tests.forethought.app.conftest import Cli
from tests.forethought.app.eval.conftest import lines
from tests.forethought.app.eval.scripts import GUIDANCE, Shopper, ways
from tests.support.model_server import Answer, SeenRequest

Json = dict[str, Any]
ERRAND = catalogue()[1][9]
HASTY, CAREFUL = ways(ERRAND.instruction)


def run(cli: Cli, *methods: str, more: tuple[str, ...] = ()) -> Any:
    names = ",".join(methods)
    return cli(
        *("eval", "run", "small-shop", "--method", names, "--sample", "errand-09", "--out", "o"),
        *("--scripted", "--yes", *more),
    )


def rows() -> dict[str, Json]:
    return {line["method"]: line for line in lines()}


def test_a_failed_try_is_run_again_from_its_critical_error_with_guidance(
    cli: Cli, served: Callable[..., Any]
) -> None:
    shopper = Shopper()
    server = served(shopper)
    done = run(cli, "agentdebug")
    assert done.code == 0, done.err
    row = rows()["agentdebug"]
    assert (row["score"], row["tries"], row["status"], row["asked_outcome"]) == (1.0, 2, "answered", True)
    assert shopper.asked == {"ModularStep": 3 + len(CAREFUL) - 2, "StepLabels": 3, "CriticalError": 1}
    third = [seen for seen in server.requests if seen.reply_name == "ModularStep"][2]
    assert third.last.count("[Buy Now]") == 1, "what it sees now is shown once"
    assert row["steps"] == 3 + len(CAREFUL) - 2, "replayed steps are not counted"


def test_baselines_re_run_the_same_try_at_the_tokens_that_it_really_took(
    cli: Cli, served: Callable[..., Any]
) -> None:
    shopper = Shopper(heeds="nothing helps")
    served(shopper)
    others = ("rerun-vanilla", "rerun-self-refine", "rerun-best-of-n", "rerun-tot")
    done = run(cli, *others, "agentdebug")
    assert done.code == 0, done.err
    found = rows()
    leader = found["agentdebug"]
    assert (leader["score"] < 1, leader["tries"]) == (True, 6), "five re-runs"
    tokens = {
        name: row["usage"]["input_tokens"] + row["usage"]["output_tokens"] for name, row in found.items()
    }
    first = 3 * 120
    for name in others:
        assert found[name]["tries"] > 2, name
        assert tokens[name] <= tokens["agentdebug"] - first + 120, f"{name}: beyond one call"
        assert tokens[name] >= 0.6 * (tokens["agentdebug"] - first), name


def test_the_modular_agent_alone_is_a_row(cli: Cli, served: Callable[..., Any]) -> None:
    shopper = Shopper()
    served(shopper)
    assert run(cli, "modular").code == 0
    row = rows()["modular"]
    assert (row["score"] < 1, row["tries"], row["asked_outcome"], row["steps"]) == (True, 1, False, 3)
    assert shopper.asked == {"ModularStep": 3}


def test_act_only_has_no_thoughts(cli: Cli, served: Callable[..., Any]) -> None:
    def act(seen: SeenRequest) -> Answer:
        assert "thought" not in seen.text
        at = seen.messages[1][1].count("<step")
        return {"action": "call", "tool": "act", "arguments": {"action": CAREFUL[at]}, "answer": None}

    served(act)
    done = run(cli, "act")
    assert (done.code, rows()["act"]["score"]) == (0, 1.0), done.err
    run_kept = read_trajectories(Path("o") / rows()["act"]["trajectory"])[0].trajectory
    assert not any(step.planning for step in run_kept.steps)


def test_a_solved_first_try_costs_no_re_run(cli: Cli, served: Callable[..., Any]) -> None:
    shopper = Shopper(heeds="web shop")
    served(shopper)
    assert run(cli, "agentdebug", "rerun-tot").code == 0
    found = rows()
    assert set(shopper.asked) == {"ModularStep"}
    assert {name: (row["score"], row["tries"]) for name, row in found.items()} == {
        "agentdebug": (1.0, 1),
        "rerun-tot": (1.0, 1),
    }


def test_the_number_of_tries_is_an_option(cli: Cli, served: Callable[..., Any]) -> None:
    served(Shopper(heeds="nothing helps"))
    assert run(cli, "agentdebug", more=("--tries", "3")).code == 0
    assert rows()["agentdebug"]["tries"] == 3


def test_a_baseline_without_the_method_that_it_follows_is_refused(
    cli: Cli, served: Callable[..., Any]
) -> None:
    served(Shopper())
    done = run(cli, "rerun-vanilla")
    assert done.code == 2
    assert "--method agentdebug,rerun-vanilla" in done.err


def test_tools_are_called_as_text_and_the_answer_is_handed_in(cli: Cli, served: Callable[..., Any]) -> None:
    (sample,) = [one for one in BENCHMARK.samples(Path(), {}) if one.id == "none-1"]
    prices = prices_of(sample.data)
    lookup = call_text("catalogue", {"item": prices.item})
    seen_tools: list[bool] = []

    class Clerk(Shopper):
        def _ModularStep(self, user: str) -> Json:
            seen_tools.append("ledger" in user)
            answer = prices.price + prices.fee if GUIDANCE in user else prices.entry
            way = ["look it up", call_text("shelf", {}), lookup, f"finish[{answer}]"]
            return {"memory": "", "reflection": "", "planning": "p", "action": way[user.count("<step")]}

        def _CriticalError(self, user: str) -> Json:
            return {**super()._CriticalError(user), "critical_step": 4, "evidence": f"finish[{prices.entry}]"}

    served(Clerk())
    done = cli(
        *("eval", "run", "benchmarks.planted_faults.world:BENCHMARK", "--method", "agentdebug"),
        *("--sample", "none-1", "--out", "o", "--yes"),
    )
    assert done.code == 0, done.err
    row = rows()["agentdebug"]
    assert (row["score"], row["tries"], row["answer"]) == (1.0, 2, str(sample.target))
    assert row["steps"] == 1, "what calls no tool costs no step, and a replay none either"
    assert all(seen_tools)
    kept = read_trajectories(Path("o") / row["trajectory"])[0].trajectory
    assert "there is no tool 'shelf'" in kept.steps[1].observation
    assert "a call as JSON" in kept.steps[0].observation


def test_a_broken_world_leaves_nothing_to_follow(
    cli: Cli, served: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: Any, action: str) -> Any:
        raise OSError("the shop burnt down")

    monkeypatch.setattr("forethought.evals.environments.webshop.episode.ShopEpisode.step", broken)
    served(Shopper())
    done = run(cli, "agentdebug", "rerun-tot")
    assert done.code in (1, 3), done.err
    found = rows()
    assert "the shop burnt down" in found["agentdebug"]["error"]
    assert "agentdebug has no finished trial" in found["rerun-tot"]["error"]
