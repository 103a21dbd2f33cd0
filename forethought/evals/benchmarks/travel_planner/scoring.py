"""From constraints to a score: delivery, micro and macro pass rates, final pass (TravelPlanner 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forethought.evals.benchmarks.travel_planner.commonsense import COMMONSENSE, Outcome, commonsense
from forethought.evals.benchmarks.travel_planner.hard import hard, hard_constraints
from forethought.evals.benchmarks.travel_planner.plan import Plan
from forethought.evals.benchmarks.travel_planner.query import Query
from forethought.evals.benchmarks.travel_planner.sandbox import Sandbox


@dataclass(frozen=True)
class Judged:
    """What became of each constraint; {} where there was no plan, or (hard) where it was not judged."""

    commonsense: Mapping[str, Outcome] = field(default_factory=dict)
    hard: Mapping[str, Outcome] = field(default_factory=dict)


def judge(query: Query, plan: Plan, sandbox: Sandbox) -> Judged:
    """Every constraint on `plan`; the hard ones only of a plan that is complete and exists."""
    if not plan:
        return Judged()
    found = commonsense(query, plan, sandbox)
    whole = found["complete_information"].met and found["within_sandbox"].met
    return Judged(found, hard(query, plan, sandbox) if whole else {})


def values_of(query: Query, judged: Judged) -> dict[str, float]:
    """The metrics of one plan, each 0 or 1. A hard constraint that the query does not have is left out; one
    that was not judged is not met."""
    commons = {f"commonsense_{name}": _met(judged.commonsense.get(name)) for name in COMMONSENSE}
    hards = {f"hard_{name}": _met(judged.hard.get(name)) for name in hard_constraints(query)}
    # As in the official evaluation: without judged hard constraints no macro pass is counted.
    commonsense_macro = bool(judged.hard) and all(commons.values())
    hard_macro = bool(judged.hard) and all(hards.values())
    return {
        "delivery": float(bool(judged.commonsense)),
        "commonsense_macro": float(commonsense_macro),
        "hard_macro": float(hard_macro),
        "final_pass": float(commonsense_macro and hard_macro),
        **commons,
        **hards,
    }


def micro_rates(scored: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The share of all constraints of all plans that are met."""
    rates = {}
    for kind in ("commonsense", "hard"):
        single = [
            value for values in scored for name, value in values.items()
            if name.startswith(f"{kind}_") and name != f"{kind}_macro"
        ]  # fmt: skip
        if single:
            rates[f"{kind}_micro"] = sum(single) / len(single)
    return rates


def explanation(judged: Judged) -> str:
    """What is not met and why, one line each."""
    if not judged.commonsense:
        return "no plan was delivered"
    both = {**judged.commonsense, **{f"hard {name}": outcome for name, outcome in judged.hard.items()}}
    lines = [f"{name}: {outcome.why}" for name, outcome in both.items() if outcome.met is False]
    if not judged.hard:
        lines.append(
            "the hard constraints were not judged: the plan is incomplete or names what does not exist"
        )
    return "\n".join(lines) or "all constraints are met"


def _met(outcome: Outcome | None) -> float:
    return float(outcome is not None and outcome.met is not False)
