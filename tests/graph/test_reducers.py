"""The reducers: merge by key, delete, clear first; sums."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from forethought.models.types import no_usage
from forethought.state.reducers import CLEAR, add_usage, merge, merge_files, merge_rounds

KEYS = st.sampled_from(["a", "b", "c"])
VALUES = st.dictionaries(KEYS, st.integers(0, 9))
UPDATES = st.dictionaries(st.sampled_from(["a", "b", "c", CLEAR]), st.none() | st.integers(0, 9))
USAGE = st.dictionaries(KEYS, st.dictionaries(st.sampled_from(["calls", "input_tokens"]), st.integers(0, 9)))


@given(VALUES, UPDATES)
def test_merge_deletes_on_none_and_clears_first(old: Any, new: Any) -> None:
    before = copy.deepcopy(old)
    merged = merge(old, new)
    start = {} if CLEAR in new else old
    wanted = {key: new.get(key, start.get(key)) for key in {*start, *new} - {CLEAR}}
    assert merged == {key: value for key, value in wanted.items() if value is not None}
    assert old == before, "the old value is not changed"


@given(VALUES, st.lists(VALUES))
def test_merging_disjoint_siblings_in_any_order_is_the_same(old: Any, updates: list[Any]) -> None:
    tagged = [{f"{n}{key}": value for key, value in update.items()} for n, update in enumerate(updates)]
    one, other = old, old
    for update in tagged:
        one = merge(one, update)
    for update in reversed(tagged):
        other = merge(other, update)
    assert one == other


@given(st.lists(USAGE, max_size=4))
def test_usage_is_summed_by_role_and_figure(updates: list[Any]) -> None:
    total: Any = None
    for update in updates:
        total = add_usage(total, update)
    for role in {role for update in updates for role in update}:
        for key in ("calls", "input_tokens"):
            assert total[role].get(key, 0) == sum(update.get(role, {}).get(key, 0) for update in updates)


def test_usage_clears_before_it_adds() -> None:
    cleared = add_usage({"a": {"calls": 3}}, {CLEAR: None, "b": {"calls": 1}})
    assert cleared == {"b": {**no_usage(), "calls": 1}}


def test_rounds_take_failures_of_siblings_and_the_record_together() -> None:
    one = merge_rounds({}, {"1": {"round": 1, "failures": {"1": {"cause": "tool"}}}})
    two = merge_rounds(one, {"1": {"round": 1, "failures": {"2": {"cause": "empty"}}}})
    done = merge_rounds(two, {"1": {"round": 1, "answer": "x", "score": 3}})
    assert done["1"]["failures"] == {"1": {"cause": "tool"}, "2": {"cause": "empty"}}
    assert done["1"]["score"] == 3
    assert "2" not in one["1"]["failures"], "the old value is not changed"
    assert merge_rounds(done, {CLEAR: None}) == {}
    assert merge_rounds(done, {"1": None}) == {}


def test_files_of_the_same_name_are_replaced_and_others_stay() -> None:
    old: list[Any] = [{"name": "a", "hash": "1"}, {"name": "b", "hash": "2"}]
    assert merge_files(old, [{"name": "a", "hash": "3"}, "c"]) == [{"name": "a", "hash": "3"}, old[1], "c"]
    assert merge_files(None, None) == []
