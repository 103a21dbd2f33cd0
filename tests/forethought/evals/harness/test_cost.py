"""The estimate of an evaluation."""

from __future__ import annotations

from typing import Any

import pytest

from forethought.evals.harness.cost import expected, spent_on
from forethought.evals.results import Result
from forethought.models.allowance import total
from forethought.models.types import Usage, no_usage


def result(method: str, tokens: int, score: float | None = 1.0, **usage: Any) -> Result:
    """A finished trial, judged for 5 tokens."""
    own = no_usage() | {"calls": 1, "input_tokens": tokens, "usd": tokens / 100, **usage}
    judge = no_usage() | {"input_tokens": 5, "usd": 0.05}
    return Result(
        method=method, sample="a", trial=1, score=score, usage=own, judge_usage=judge, seconds=tokens / 10
    )


def paid(*results: Result) -> Usage:
    """All that they cost."""
    return total(*(usage for one in results for usage in (one.usage, one.judge_usage)))


def test_each_method_is_expected_to_cost_what_it_did() -> None:
    done = [result("ours", 100), result("ours", 200), result("react", 10)]
    cost = expected(done, {"ours": 4, "react": 2}, paid(*done))
    assert cost.tokens == pytest.approx(325 + 4 * 155 + 2 * 15)
    assert cost.usd == pytest.approx(3.25 + 4 * 1.55 + 2 * 0.15)
    assert (cost.runs, cost.seconds) == (9, pytest.approx(31 + 4 * 15 + 2 * 1))


def test_what_failed_is_paid_and_foretells_nothing() -> None:
    done, failed = [result("ours", 100)], result("react", 1_000, score=None)
    cost = expected([*done, failed], {"ours": 1, "react": 1}, paid(*done, failed))
    assert cost.tokens == pytest.approx(105 + 1_005 + 105 + 105), "react as what is known of the others"
    with pytest.raises(ValueError, match="needs at least one finished run"):
        expected([failed], {"ours": 1}, paid(failed))


def test_a_method_that_was_not_run_is_expected_to_take_all_its_tries() -> None:
    twice = result("agentdebug", 295).model_copy(update={"tries": 2})
    done = [result("react", 95), twice]
    left = {"samule": 2, "samule in training": 3}
    cost = expected(done, left, paid(*done), {"samule": 4, "samule in training": 4})
    assert cost.tokens == pytest.approx(400 + (2 + 3) * 4 * (100 + 150) / 2)


def test_without_a_price_the_cost_in_dollars_is_unknown() -> None:
    done = [result("ours", 100), result("react", 100, unpriced=1)]
    assert expected(done, {"ours": 1}, paid(*done)).usd is None
    assert spent_on(done, paid(*done)).usd is None
