"""The methods by name, and what each ablation changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forethought.evals.methods.ablations import ABLATIONS
from forethought.evals.methods.ours import Ours
from forethought.evals.registry import method, method_names
from forethought.evals.types import Budget, InfrastructureError
from forethought.state.context import Context
from tests.support.evaluating import Bureau, HouseEpisode
from tests.support.household import Household
from tests.support.model_server import ModelServer, script

NAMES = [
    "ours", "ours-paper", "ours-low", "no-prospective-reflection", "no-planning-errors",
    "no-replanning", "no-plan-intra", "no-tool-intra", "no-answer-intra", "no-intra",
    "no-short-term", "no-long-term", "no-inter", "no-foresight",
    "ours-no-prospective-reflection", "ours-no-planning-errors", "ours-no-replanning", "ours-no-plan-intra",
    "ours-no-tool-intra", "ours-no-answer-intra", "ours-no-intra", "ours-no-short-term", "ours-no-long-term",
    "ours-no-inter", "ours-no-foresight", "no-first-look", "no-signs", "no-checks",
    "react", "act", "plan-and-act",
    "reflexion", "self-refine", "self-refine-budget", "best-of-n", "best-of-n-budget", "expel",
    "inter-task", "samule", "error-reduction", "retrieve", "deepagents", "modular", "agentdebug",
    "rerun-vanilla", "rerun-self-refine", "rerun-best-of-n", "rerun-tot",
]  # fmt: skip


def test_all_methods_are_there_ours_first() -> None:
    assert method_names()[: len(NAMES)] == NAMES
    for name in method_names():
        made = method(name)
        assert made.name == name
        assert made.about
        assert "\n" not in made.about
    samule = ["samule", "error-reduction"]
    assert [name for name in NAMES if method(name).needs_training] == ["expel", "inter-task", *samule]
    assert [name for name in NAMES if method(name).asks_outcome] == ["reflexion", *samule, *NAMES[-5:]]
    with pytest.raises(ValueError, match="unknown method 'oars'; did you mean ours"):
        method("oars")


@pytest.mark.parametrize("name", ABLATIONS)
def test_an_ablation_switches_off_its_mechanism_and_nothing_else(
    bureau: Bureau, model_server: Callable[..., ModelServer], name: str
) -> None:
    workshop = bureau.workshop(model_server(script("")))
    base = "ours-paper" if name in NAMES[3:14] else "ours"
    one, whole = method(name), method(base)
    assert ABLATIONS[name].base == base
    assert isinstance(one, Ours)
    assert isinstance(whole, Ours)
    off, on = one.context(workshop).model_dump(), whole.context(workshop).model_dump()
    changed = {key: value for key, value in off.items() if on[key] != value}
    assert changed == ABLATIONS[name].switches
    assert set(changed.values()) <= {False, "off"}
    defaults = Context().model_dump()
    effort = {"effort"} if base == "ours-paper" else set()
    assert {key for key in defaults if on[key] != defaults[key]} == {"model", "approve_tools", *effort}
    assert off["effort"] == on["effort"]


def test_the_operators_choices_hold_within_the_evaluations_own(
    bureau: Bureau, model_server: Callable[..., ModelServer]
) -> None:
    server, one = model_server(script("")), Ours("x", "x", {"tool_intra": False})
    chosen = {
        "max_rounds": 2,
        "tool_intra": True,
        "max_steps": 7,
        "max_tokens": 9_000_000,
        "approve_tools": "always",
    }
    budget = Budget(max_steps=9, max_tokens=50_000)
    episode = HouseEpisode(Household(1))
    made = one.context(bureau.workshop(server, context=chosen, budget=budget, episode=episode))
    assert (made.max_rounds, made.tool_intra, made.approve_tools) == (2, False, "never")
    assert (made.max_steps, made.max_tokens, made.max_parallel) == (7, 50_000, 1)
    assert one.context(bureau.workshop(server, budget=budget)).max_steps == 9
    with pytest.raises(InfrastructureError, match="--set max_rounds"):
        one.context(bureau.workshop(server, context={"max_rounds": 99}))


def test_a_short_form_of_the_answer_is_the_contexts_and_a_long_one_the_tasks(
    bureau: Bureau, model_server: Callable[..., ModelServer]
) -> None:
    server, one = model_server(script("")), Ours()
    assert one.context(bureau.workshop(server, answer_format="a number")).answer_format == "a number"
    assert one.context(bureau.workshop(server, answer_format="x" * 400)).answer_format == ""
