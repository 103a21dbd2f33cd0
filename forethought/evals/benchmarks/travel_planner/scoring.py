"""From constraints to a score: delivery, micro and macro pass rates, final pass (TravelPlanner 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forethought.evals.benchmarks.travel_planner.commonsense import COMMONSENSE, commonsense
from forethought.evals.benchmarks.travel_planner.hard import hard, hard_constraints
from forethought.evals.benchmarks.travel_planner.plan import Plan
from forethought.evals.benchmarks.travel_planner.query import Query
from forethought.evals.benchmarks.travel_planner.sandbox import Sandbox


@dataclass(frozen=True)
class Judged:
    """Which constraints are met; {} where there was no plan, or (hard) where they were not judged."""

    commonsense: Mapping[str, bool] = field(default_factory=dict)
    hard: Mapping[str, bool] = field(default_factory=dict)


def judge(query: Query, plan: Plan, sandbox: Sandbox) -> Judged:
    """Every constraint on `plan`; the hard ones only of a plan that is complete and exists."""
    if not plan:
        return Judged()
    found = commonsense(query, plan, sandbox)
    whole = found["complete_information"] and found["within_sandbox"]
    return Judged(found, hard(query, plan, sandbox) if whole else {})


def values_of(query: Query, judged: Judged) -> dict[str, float]:
    """The metrics of one plan, each 0 or 1. A hard constraint that the query does not have is left out; one
    that was not judged is not met."""
    commons = {f"commonsense_{name}": float(judged.commonsense.get(name, False)) for name in COMMONSENSE}
    hards = {f"hard_{name}": float(judged.hard.get(name, False)) for name in hard_constraints(query)}
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
    """The constraints that are not met."""
    if not judged.commonsense:
        return "no plan was delivered"
    unmet = [name for name, met in judged.commonsense.items() if not met]
    unmet += [f"hard {name}" for name, met in judged.hard.items() if not met]
    if not judged.hard:
        unmet.append("all hard constraints, since the plan is incomplete or names what does not exist")
    return f"not met: {', '.join(unmet)}" if unmet else "all constraints are met"
