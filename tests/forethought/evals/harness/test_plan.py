"""Which samples are tried, and which are learned from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.evals.harness.plan import (
    check_methods,
    check_samples,
    parse_options,
    select_samples,
    training_samples,
)
from forethought.evals.types import DataError, Sample
from tests.support.tiny_benchmark import BENCHMARK, Asks

ids = st.lists(st.text("abc123._-", min_size=1, max_size=6), unique=True, min_size=1, max_size=30)


def samples(names: list[str]) -> list[Sample]:
    """Samples with these ids."""
    return [Sample(name, f"Count {name}.") for name in names]


@given(names=ids, seed=st.integers(0, 5), data=st.data())
def test_a_larger_limit_only_adds(names: list[str], seed: int, data: st.DataObject) -> None:
    less = data.draw(st.integers(1, len(names)))
    more = data.draw(st.integers(less, len(names)))
    first, second = (select_samples(samples(names), limit, (), seed) for limit in (less, more))
    assert second[:less] == first
    assert len(second) == more
    backwards = select_samples(samples(names[::-1]), more, (), seed)
    assert backwards == second, "whatever the order of the data"


@given(names=ids, seed=st.integers(0, 5), data=st.data())
def test_what_is_learned_from_is_not_evaluated(names: list[str], seed: int, data: st.DataObject) -> None:
    limit = data.draw(st.integers(0, len(names)))
    count = data.draw(st.integers(0, len(names)))
    evaluated = select_samples(samples(names), limit, (), seed)
    if count > len(names) - limit:
        with pytest.raises(ValueError, match="are free for training"):
            training_samples(samples(names), evaluated, count, seed)
        return
    learned = training_samples(samples(names), evaluated, count, seed)
    assert len(learned) == count
    assert not {one.id for one in learned} & {one.id for one in evaluated}


def test_named_samples_are_taken_in_their_order() -> None:
    assert [one.id for one in select_samples(samples(["a", "b", "c"]), 1, ("c", "a", "c"), 0)] == ["c", "a"]


@pytest.mark.parametrize(
    ("names", "message"), [(["a/../../b"], "'a/../../b'"), (["a", "b", "a"], "have the id a")]
)
def test_ids_that_cannot_name_files_are_refused(names: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        check_samples(samples(names), "tiny")
    with pytest.raises(ValueError, match=message):
        check_methods([Asks(name, 1) for name in names])


def test_options_are_those_of_the_benchmark() -> None:
    assert parse_options(["judge = model", "split=a=b"], BENCHMARK) == {"judge": "model", "split": "a=b"}
    with pytest.raises(ValueError, match="--train-option size: tiny has no such option"):
        parse_options(["size=3"], BENCHMARK, "--train-option")
    with pytest.raises(ValueError, match="write KEY=VALUE"):
        parse_options(["judge"], BENCHMARK)
