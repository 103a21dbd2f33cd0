"""The figures of an audit: how often skips changed the outcome, and the cost of the mechanism.

At a skip, every forced run is held against every control run: a pair flips if their outcomes differ. Tasks
are the sample, so the skips of a task are averaged before tasks are. Two control runs can differ too: then
flips are partly noise. The gain, won pairs less lost ones, is free of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from statistics import fmean

from forethought.evals.audit.skips import SkippedAt
from forethought.evals.results import Result
from forethought.evals.statistics import mean_interval
from forethought.json_files import read_object
from forethought.nodes.support.effort import Evidence, Rule
from forethought.rollouts.matching import same_answer
from forethought.trajectories.types import Loaded

FEWEST_TASKS = 10
"""Tasks below which no rule is convicted."""
Outcome = float | str
"""A grade; without one, the actions or the answer."""


@dataclass(frozen=True)
class Comparison:
    """The two arms at one skip: shares of pairs of runs, and costs. See Evidence."""

    skip: SkippedAt
    flips: float
    won: float | None
    lost: float | None
    noise: float | None
    tokens: float
    usd: float | None


def compare(skip: SkippedAt, control: Sequence[Result], forced: Sequence[Result], folder: Path) -> Comparison:
    """Hold the forced runs at a skip against the control runs. Reads the trajectories of ungraded runs."""
    old, new = ([_outcome(result, folder) for result in arm] for arm in (control, forced))
    graded = all(result.score is not None for result in (*control, *forced))
    priced = all(result.usd is not None for result in (*control, *forced))
    gains = [one - other for one, other in product(new, old)] if graded else []  # type: ignore[operator]

    def added(cost: Callable[[Result], float]) -> float:
        return fmean(map(cost, forced)) - fmean(map(cost, control))

    return Comparison(
        skip=skip,
        flips=fmean(_differ(*pair) for pair in product(old, new)),
        won=fmean(gain > 0 for gain in gains) if graded else None,
        lost=fmean(gain < 0 for gain in gains) if graded else None,
        noise=fmean(_differ(*pair) for pair in combinations(old, 2)) if len(old) > 1 else None,
        tokens=added(lambda result: result.tokens),
        usd=added(lambda result: result.usd or 0) if priced else None,
    )


def evidence_of(comparisons: Sequence[Comparison], runs: str, model: str, seed: int = 0) -> Evidence:
    """The figures of the comparisons at one rule's skips, at least one."""

    def by_task(name: str) -> list[float]:
        tasks: dict[str, list[float]] = {}
        for one in comparisons:
            tasks.setdefault(one.skip.task, []).append(getattr(one, name))
        known = all(value is not None for values in tasks.values() for value in values)
        return [fmean(values) for values in tasks.values()] if known else []

    def mean(name: str) -> float | None:
        return round(fmean(values), 6) if (values := by_task(name)) else None

    def interval(values: Sequence[float], lowest: float = 0) -> tuple[float, float]:
        found = mean_interval(values, seed)
        low = found.low if any(values) else max(-found.high, lowest)  # Wilson's is of a share
        return round(low, 4), round(found.high, 4)

    flips, gains = by_task("flips"), [w - x for w, x in zip(by_task("won"), by_task("lost"), strict=True)]
    return Evidence(
        runs=runs,
        model=model,
        skips=len(comparisons),
        tasks=len(flips),
        flips=round(fmean(flips), 6),
        interval=interval(flips),
        gain_interval=interval(gains, lowest=-1) if gains else None,
        tokens=round(fmean(by_task("tokens")), 1),
        **{name: mean(name) for name in ("won", "lost", "noise", "usd")},
    )


def convicts(found: Evidence) -> bool:
    """Whether it shows that a rule's skips cost right answers."""
    return bool(found.gain_interval and found.gain_interval[0] > 0 and found.tasks >= FEWEST_TASKS)


def fitted(rule: Rule, comparisons: Sequence[Comparison], found: Evidence, seed: int = 0) -> Rule:
    """The rule with the evidence `found`; if it convicts, with the highest limit that won nothing, else no
    longer applied."""
    changes: dict[str, object] = {"convicted": True} if convicts(found) else {}
    for name in rule.limits if changes else ():
        for limit in sorted({one.skip.measured[name] for one in comparisons}):
            under = [one for one in comparisons if one.skip.measured[name] <= limit]
            tighter = evidence_of(under, found.runs, found.model, seed)
            if tighter.tasks >= FEWEST_TASKS and tighter.won == 0 and limit < rule.limits[name]:
                changes, found = {"limits": {**rule.limits, name: limit}}, tighter
    others = [one for one in rule.evidence if (one.runs, one.model) != (found.runs, found.model)]
    return rule.model_copy(update={**changes, "evidence": (*others, found)})


def _outcome(result: Result, folder: Path) -> Outcome:
    """The grade; without one, the actions that changed the world, or else the answer."""
    if result.score is not None:
        return result.score
    record = Loaded.model_validate(read_object(folder / result.trajectory))
    return "; ".join(s.action for s in record.trajectory.steps if s.changes_world) or result.answer


def _differ(one: Outcome, other: Outcome) -> bool:
    return not same_answer(one, other) if isinstance(one, str) and isinstance(other, str) else one != other
