"""What each mechanism of our agent cost and changed over an evaluation, and how often for the better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forethought.evals.results import Result
from forethought.state.cost import MECHANISMS, CostRow

Key = tuple[str, int]
"""Sample and trial."""


@dataclass(frozen=True)
class MechanismFigures:
    """One mechanism of one method. Calls, tokens, dollars and seconds are means over the method's trials."""

    mechanism: str
    calls: float
    tokens: float
    usd: float | None
    """None if the price of a call is unknown."""
    seconds: float
    trials: int
    skipped: int
    """Trials in which a rule skipped it at least once."""
    changed: int | None
    """Trials in which it changed something; None if no record can tell."""
    solved_changed: int
    """Solved trials among these."""
    solved_others: int
    """Solved trials among the others."""
    better: int | None
    """Trials that it changed and that were solved only with it; None without its ablation."""
    worse: int | None
    """The same, solved only without it."""


def mechanism_figures(
    results: Sequence[Result], without: Mapping[str, Sequence[Result]]
) -> list[MechanismFigures]:
    """The mechanisms that took part in a method's `results`; `without` holds the results of their ablations
    on the same samples."""
    trials = [result for result in results if result.costs]
    seen = {row["mechanism"] for result in trials for row in result.costs}
    names = [*(name for name in MECHANISMS if name in seen), *sorted(seen - MECHANISMS.keys())]
    return [_figures(name, trials, without.get(name)) for name in names]


def _figures(name: str, trials: Sequence[Result], without: Sequence[Result] | None) -> MechanismFigures:
    by_trial = [(trial, row) for trial in trials for row in trial.costs if row["mechanism"] == name]
    rows = [row for _, row in by_trial]
    prices = [row["usd"] for row in rows]
    changed = {_key(trial) for trial, row in by_trial if row["changed"]}
    solved = {_key(trial) for trial in trials if _is_solved(trial)}
    better, worse = None, None
    shows = any(row["changed"] is not None for row in rows)
    if without is not None and shows:
        missed = {_key(result) for result in without if not _is_solved(result)}
        reached = {_key(result) for result in without if _is_solved(result)}
        better, worse = len(changed & solved & missed), len((changed - solved) & reached)
    return MechanismFigures(
        mechanism=name,
        calls=sum(row["calls"] for row in rows) / len(trials),
        tokens=sum(map(_tokens, rows)) / len(trials),
        usd=None if None in prices else sum(price or 0.0 for price in prices) / len(trials),
        seconds=sum(row["seconds"] for row in rows) / len(trials),
        trials=len(trials),
        skipped=sum(bool(row["skipped"]) for row in rows),
        changed=len(changed) if shows else None,
        solved_changed=len(changed & solved),
        solved_others=len(solved - changed),
        better=better,
        worse=worse,
    )


def _tokens(row: CostRow) -> int:
    return row["input_tokens"] + row["output_tokens"]


def _key(result: Result) -> Key:
    return result.sample, result.trial


def _is_solved(result: Result) -> bool:
    return (result.score or 0.0) >= 1


HEAD = (
    "mechanism", "calls", "tokens", "USD", "seconds", "skipped", "changed", "solved there",
    "solved elsewhere", "better", "worse",
)  # fmt: skip


def cells(figures: MechanismFigures) -> tuple[str, ...]:
    """A mechanism's line of the table, as HEAD names the columns."""
    made = figures.calls > 0
    there: tuple[str, str, str] = ("", "", "")
    if (changed := figures.changed) is not None:
        others = figures.trials - changed
        there = (
            f"{changed} of {figures.trials}",
            f"{figures.solved_changed} of {changed}" if changed else "",
            f"{figures.solved_others} of {others}" if others else "",
        )
    return (
        figures.mechanism.replace("_", " "),
        f"{figures.calls:.1f}" if made else "",
        f"{figures.tokens:,.0f}" if made else "",
        ("?" if figures.usd is None else f"{figures.usd:.4f}") if made else "",
        f"{figures.seconds:.1f}" if figures.seconds else "",
        str(figures.skipped or ""),
        *there,
        "" if figures.better is None else str(figures.better),
        "" if figures.worse is None else str(figures.worse),
    )
