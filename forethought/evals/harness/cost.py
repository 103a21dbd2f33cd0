"""What an evaluation cost, and will have cost: the same estimate as that of a collection, by method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forethought.collecting.estimate import Cost, estimate
from forethought.collecting.folder import Trial
from forethought.evals.results import Result
from forethought.models.allowance import total
from forethought.models.types import Usage


def spent_on(results: Sequence[Result], usage: Usage) -> Cost:
    """The cost of `results`, of which `usage` is the whole."""
    tokens = usage["input_tokens"] + usage["output_tokens"]
    usd = None if usage["unpriced"] else usage["usd"]
    return Cost(len(results), tokens, usd, sum(result.seconds for result in results))


def expected(results: Sequence[Result], left: Mapping[str, int], spent: Usage) -> Cost:
    """What it will have taken with `left` further runs by method: a method is expected to cost what its
    scored runs did, one without any what the others do. `spent` holds what failed and was learned, too.
    Raises ValueError when no run came to its end."""
    scored = [result for result in results if result.tried]
    whole, so_far = estimate([_trial(result) for result in scored], left), spent_on(results, spent)
    known = spent_on(scored, total(*(_usage(result) for result in scored)))
    usd = (whole.usd, so_far.usd, known.usd)
    return replace(
        whole,
        tokens=whole.tokens + so_far.tokens - known.tokens,
        usd=None if None in usd else (usd[0] or 0) + (usd[1] or 0) - (usd[2] or 0),
    )


def _usage(result: Result) -> Usage:
    return total(result.usage, result.judge_usage)


def _trial(result: Result) -> Trial:
    return Trial(
        task=result.method,
        trial=result.trial,
        status=result.status,
        outcome="unknown",
        by="",
        reason="",
        usage=_usage(result),
        seconds=result.seconds,
    )
