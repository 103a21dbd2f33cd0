"""What an evaluation cost, and will have cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forethought.collecting.estimate import Cost
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
    scored runs did, one without any what the others do. Raises ValueError when no run has a score."""
    by_method: dict[str, list[Result]] = {}
    for result in results:
        if result.tried:
            by_method.setdefault(result.method, []).append(result)
    if not by_method:
        raise ValueError("an estimate needs a finished run")
    means = {method: _mean(scored) for method, scored in by_method.items()}
    usual = [sum(figures) / len(means) for figures in zip(*means.values(), strict=True)]
    tokens, usd, seconds = (
        sum(means.get(method, usual)[figure] * runs for method, runs in left.items()) for figure in range(3)
    )
    so_far = spent_on(results, spent)
    return Cost(
        runs=sum(map(len, by_method.values())) + sum(left.values()),
        tokens=so_far.tokens + tokens,
        usd=None if so_far.usd is None else so_far.usd + usd,
        seconds=so_far.seconds + seconds,
    )


def _mean(results: Sequence[Result]) -> tuple[float, float, float]:
    """Tokens, dollars and seconds a run."""
    usage = total(*(total(result.usage, result.judge_usage) for result in results))
    tokens, seconds = usage["input_tokens"] + usage["output_tokens"], sum(one.seconds for one in results)
    return tokens / len(results), usage["usd"] / len(results), seconds / len(results)
