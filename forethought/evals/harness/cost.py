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


def expected(
    results: Sequence[Result], left: Mapping[str, int], spent: Usage, tries: Mapping[str, int] | None = None
) -> Cost:
    """What it will have taken with `left` further runs by method: a method is expected to cost what its
    scored runs did, one without any what each of its `tries` (1) costs the others.

    Raises ValueError when no run has a score.
    """
    by_method: dict[str, list[Result]] = {}
    for result in results:
        if result.tried:
            by_method.setdefault(result.method, []).append(result)
    if not by_method:
        raise ValueError("an estimate needs at least one finished run")
    costs = {method: _mean(scored) for method, scored in by_method.items()}
    a_try = [_mean(scored, sum(one.tries for one in scored)) for scored in by_method.values()]
    for method in left.keys() - costs.keys():
        count = (tries or {}).get(method, 1)
        costs[method] = [count * sum(figures) / len(a_try) for figures in zip(*a_try, strict=True)]
    tokens, usd, seconds = (
        sum(costs[method][figure] * runs for method, runs in left.items()) for figure in range(3)
    )
    so_far = spent_on(results, spent)
    return Cost(
        runs=sum(map(len, by_method.values())) + sum(left.values()),
        tokens=so_far.tokens + tokens,
        usd=None if so_far.usd is None else so_far.usd + usd,
        seconds=so_far.seconds + seconds,
    )


def _mean(results: Sequence[Result], count: int = 0) -> list[float]:
    """Tokens, dollars and seconds a run, or by another `count`."""
    count = count or len(results)
    usage = total(*(total(result.usage, result.judge_usage) for result in results))
    tokens, seconds = usage["input_tokens"] + usage["output_tokens"], sum(one.seconds for one in results)
    return [tokens / count, usage["usd"] / count, seconds / count]
