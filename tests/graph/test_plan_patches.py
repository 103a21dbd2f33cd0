"""The plan's reducer: a whole plan replaces, a patch changes the plan in force, in any batching; what nodes
write."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.state.plan_patches import PATCH, join_plans, plan_update

IDS = st.sampled_from(["a", "b", "c"])
STATUSES = st.sampled_from(["pending", "finished", "failed", "blocked"])
SUBTASKS = st.lists(
    st.fixed_dictionaries({"id": IDS, "description": st.sampled_from(["x", "y"]), "status": STATUSES}),
    max_size=3,
)
FIELDS = {
    "subtasks": SUBTASKS,
    "version": st.integers(1, 2),
    "approval": st.sampled_from(["", "wanted"]),
    "reviewed": st.booleans(),
    PATCH: st.just({"version": 1}),
}
PLANS = st.fixed_dictionaries({}, optional=FIELDS).filter(lambda plan: set(plan) != {PATCH})
PATCHES = st.fixed_dictionaries(
    {
        PATCH: st.fixed_dictionaries(
            {},
            optional={
                "version": st.integers(1, 2) | st.none(),
                "status": st.dictionaries(IDS, STATUSES) | st.just(7),
                "fields": st.fixed_dictionaries(
                    {}, optional={"reviewed": st.booleans(), "subtasks": st.just([]), "version": st.just(9)}
                )
                | st.just("all"),
            },
        )
    }
)
WRITES = PLANS | PATCHES | st.none() | st.sampled_from(["none", [], 7, {PATCH: "all"}, {"subtasks": "all"}])


def patch(version: int = 1, status: Any = None, fields: Any = None) -> dict[str, Any]:
    return {PATCH: {"version": version, "status": status or {}, "fields": fields or {}}}


def plan(version: int = 1, **statuses: str) -> dict[str, Any]:
    return {"version": version, "subtasks": [{"id": key, "status": was} for key, was in statuses.items()]}


@given(WRITES, st.lists(WRITES, max_size=6), st.data())
def test_writes_can_be_joined_in_any_batches_and_are_not_changed(
    old: Any, writes: list[Any], data: st.DataObject
) -> None:
    before = copy.deepcopy((old, writes))
    start = join_plans({}, [old])
    cut = data.draw(st.integers(0, len(writes)))
    assert join_plans(join_plans(start, writes[:cut]), writes[cut:]) == join_plans(start, writes)
    assert (old, writes) == before


@given(WRITES, st.lists(WRITES, max_size=3), PLANS)
def test_a_whole_plan_replaces_whatever_came_before(old: Any, writes: list[Any], whole: Any) -> None:
    assert join_plans(join_plans({}, [old]), [*writes, whole]) == whole


@given(PLANS, PLANS)
def test_what_a_node_writes_makes_of_the_plan_in_force_the_one_that_it_decided_on(old: Any, new: Any) -> None:
    update = plan_update(old, new)
    assert join_plans(old, [update["plan"]] if update else []) == new
    assert bool(update) == (new != old)


@given(st.dictionaries(IDS, STATUSES))
def test_a_change_of_status_is_written_as_a_patch(statuses: dict[str, str]) -> None:
    old = {**plan(2, a="pending", b="pending", c="pending"), "evaluation": "e" * 1000}
    subtasks = [{**item, "status": statuses.get(item["id"], "pending")} for item in old["subtasks"]]
    new: Any = {**old, "subtasks": subtasks}
    changed = {key: value for key, value in statuses.items() if value != "pending"}
    assert plan_update(old, new) == ({"plan": patch(2, changed)} if changed else {})  # type: ignore[arg-type]


def test_a_patch_changes_what_it_names_and_nothing_else() -> None:
    old = {**plan(3, a="pending", b="pending"), "approval": "wanted", "score": 8}
    done = join_plans(old, [patch(3, {"a": "finished"}, {"approval": "approved", "reviewed": True})])
    wanted = {**plan(3, a="finished", b="pending"), "approval": "approved", "score": 8, "reviewed": True}
    assert done == wanted


@pytest.mark.parametrize(
    ("old", "left_out"),
    [
        (plan(2, a="pending"), patch(1, {"a": "finished"}, {"approval": "approved"})),
        (plan(2, a="pending"), patch(2, {"z": "finished"})),
        (plan(2, a="pending"), patch(2, fields={"version": 3, "subtasks": []})),
        (plan(2, a="pending"), {PATCH: {"version": 2, "status": "all", "fields": 1}}),
        (plan(1, a="pending"), {PATCH: {"version": True, "status": {"a": "finished"}}}),
        ({"subtasks": [{"id": "a"}]}, {PATCH: {"version": None, "status": {"a": "finished"}}}),
        ({"version": 2, "subtasks": [{"id": ["a"]}, 7]}, patch(2, {"a": "finished"})),
        ({}, patch(1, {"a": "finished"}, {"approval": "approved"})),
        ("none", patch(1, {"a": "finished"})),
    ],
)
def test_what_is_not_for_the_plan_in_force_is_left_out(old: Any, left_out: Any) -> None:
    assert join_plans(old, [left_out]) == old


@pytest.mark.parametrize(
    "edit",
    [
        {**plan(2, a="pending"), PATCH: {"version": 1, "status": {"a": "finished"}}},
        {PATCH: "my words"},
        {"status": {"a": "finished"}, "version": 1, "fields": {}},
        {"subtasks": []},
        {},
    ],
)
def test_an_edit_is_not_taken_for_a_patch(edit: Any) -> None:
    assert join_plans(plan(1, a="pending"), [edit]) == edit


def test_nothing_written_is_no_plan() -> None:
    assert join_plans({}, []) == join_plans(plan(1), [None]) == join_plans(None, [patch()]) == {}
