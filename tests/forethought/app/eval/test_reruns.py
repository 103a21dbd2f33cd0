"""`eval run --method agentdebug`: failed tries are re-run, by baselines at the same tokens."""

from __future__ import annotations

from collections import Counter
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
from tests.support import tiny_checkouts
from tests.support.model_server import Answer, SeenRequest

Json = dict[str, Any]
ERRAND = catalogue()[1][9]
GUIDANCE = "Choose every option that is asked for before you buy."
HASTY = [f"search[{ERRAND.instruction}]", f"click[{ERRAND.wanted.lower()}]", "click[buy now]"]
CAREFUL = [*HASTY[:2], *(f"click[{value}]" for value in ERRAND.options), "click[buy now]"]


class Shopper:
    """Buys without a look at the options, unless `heeds` stands in its prompt."""

    def __init__(self, heeds: str = GUIDANCE) -> None:
        self.heeds = heeds
        self.asked: Counter[str] = Counter()

    def __call__(self, seen: SeenRequest) -> Answer:
        kind, user = seen.reply_name, seen.messages[1][1]
        self.asked[kind] += 1
        return getattr(self, f"_{kind}")(user)  # type: ignore[no-any-return]

    def _ModularStep(self, user: str) -> Json:
        way = CAREFUL if self.heeds in user else HASTY
        action = way[min(user.count("<step"), len(way) - 1)]
        return {"memory": "m", "reflection": "r", "planning": f"now {action}", "action": action}

    def _StepLabels(self, user: str) -> Json:
        modules = ("memory", "reflection", "planning", "action", "system")
        return {name: {"evidence": "", "reasoning": "fine", "error_type": "no_error"} for name in modules}

    def _CriticalError(self, user: str) -> Json:
        return {
            "cascading_effects": [],
            "root_cause": "an option was not chosen",
            "evidence": "click[buy now]",
            "critical_step": 3,
            "critical_module": "planning",
            "error_type": "constraint_ignorance",
            "correction_guidance": GUIDANCE,
        }

    def _FailurePoint(self, user: str) -> Json:
        point = {"step": 2, "module": "action", "error_type": "wrong", "reason": "hasty."}
        return {**point, "suggestion": "Do it better."}

    def _SelfFeedback(self, user: str) -> Json:
        return {"feedback": "It was not careful."}

    def _Candidates(self, user: str) -> Json:
        return {"actions": [HASTY[min(user.count("<step"), 2)]]}


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
    served(shopper)
    done = run(cli, "agentdebug")
    assert done.code == 0, done.err
    row = rows()["agentdebug"]
    assert (row["score"], row["tries"], row["status"], row["asked_outcome"]) == (1.0, 2, "answered", True)
    assert shopper.asked == {"ModularStep": 3 + len(CAREFUL) - 2, "StepLabels": 3, "CriticalError": 1}
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


def test_at_a_service_desk_the_database_is_put_back_before_a_re_run(
    cli: Cli, served: Callable[..., Any], tmp_path: Path
) -> None:
    class Librarian(Shopper):
        def _ModularStep(self, user: str) -> Json:
            member = "m1" if GUIDANCE in user else "m9"
            way = [call_text("lend_book", {"book_id": "b1", "member": member}), "finish[It costs 12.]"]
            return {"memory": "", "reflection": "", "planning": "p", "action": way[user.count("<step")]}

        def _CriticalError(self, user: str) -> Json:
            return {**super()._CriticalError(user), "critical_step": 1, "evidence": "lend_book"}

        def _CustomerReply(self, user: str) -> Json:
            return {"thought": "", "state": "continues", "message": "Emma, please. I am m1."}

    served(Librarian())
    folder = tiny_checkouts.tau_bench(tmp_path / "checkout")
    done = cli(
        *("eval", "run", "tau-bench", "--method", "agentdebug", "--data", str(folder)),
        *("--option", "domain=retail", "--sample", "retail-test-0", "--out", "o", "--yes"),
    )
    assert done.code == 0, done.err
    row = rows()["agentdebug"]
    assert (row["score"], row["tries"], row["steps"]) == (1.0, 2, 2)
