"""Plans: what is sent back, how a new plan joins the old one, and that no plan can come to a standstill."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from forethought.nodes.support.plans import (
    dropped_ids,
    join_plan,
    plan_problem,
    plan_update,
    ready,
    settle,
    status_update,
)
from forethought.prompts.replies import PlannedSubtask
from forethought.state.agent import Plan, Result
from forethought.state.reducers import CLEAR, with_statuses

IDS = st.sampled_from(["a", "b", "c", "d", "a_2", "a_3", "b_2"])


def planned(key: str, after: list[str] | None = None, description: str = "do it") -> PlannedSubtask:
    """A subtask as a model writes it."""
    return PlannedSubtask(id=key, description=description, depends_on=after or [])


def result(text: str = "found") -> Result:
    """A finished subtask's result."""
    return {"n": 1, "text": text, "origin": "tool:lookup"}


@st.composite
def dags(draw: st.DrawFn) -> list[PlannedSubtask]:
    """A random acyclic plan, in a random order."""
    size = draw(st.integers(1, 9))
    subtasks = []
    for n in range(size):
        after = draw(st.lists(st.integers(0, n - 1), unique=True)) if n else []
        subtasks.append(planned(f"s{n}", [f"s{k}" for k in after]))
    return list(draw(st.permutations(subtasks)))


@given(dags(), st.data())
@settings(max_examples=150, deadline=None)
def test_every_subtask_becomes_ready_blocked_or_finished(
    subtasks: list[PlannedSubtask], data: st.DataObject
) -> None:
    assert plan_problem(subtasks) is None
    results: dict[str, Result] = {}
    plan: Plan = {"version": 1, "subtasks": join_plan(subtasks, old=None, results=results)}
    doomed = data.draw(st.sets(st.sampled_from([s.id for s in subtasks])))
    for _ in range(len(subtasks) + 1):
        wave = ready(plan, results)
        if not wave:
            break
        for key in wave:
            needed = next(s for s in plan["subtasks"] if s["id"] == key)["depends_on"]
            assert set(needed) <= set(results), "dependencies are respected"
        results |= {key: result() for key in wave if key not in doomed}
        plan = settle(plan, results, doomed & set(wave))
    assert "pending" not in {s["status"] for s in plan["subtasks"]}, "no standstill"
    blocked = {s["id"] for s in plan["subtasks"] if s["status"] == "blocked"}
    assert blocked.isdisjoint(results)
    for s in plan["subtasks"]:
        lost = {d["id"] for d in plan["subtasks"] if d["status"] in ("failed", "blocked")} & set(
            s["depends_on"]
        )
        assert (s["status"] in ("blocked",)) == bool(lost)


@given(dags(), st.data())
@settings(deadline=None)
def test_a_cycle_is_always_caught(subtasks: list[PlannedSubtask], data: st.DataObject) -> None:
    ring = data.draw(st.lists(st.sampled_from([s.id for s in subtasks]), min_size=1, unique=True))
    for s in subtasks:
        if s.id in ring:
            s.depends_on = [*s.depends_on, ring[ring.index(s.id) - 1]]
    problem = plan_problem(subtasks)
    assert problem is not None
    assert "cycle" in problem


@given(
    st.lists(st.tuples(IDS, st.sampled_from(["x", "y"])), unique_by=lambda pair: pair[0], min_size=1),
    st.lists(
        st.tuples(
            IDS, st.sampled_from(["x", "y"]), st.sampled_from(["finished", "failed", "pending", "blocked"])
        ),
        unique_by=lambda triple: triple[0],
    ),
    st.sets(IDS),
    st.data(),
)
@settings(max_examples=300, deadline=None)
def test_a_joined_plan_has_unique_ids_keeps_results_and_hangs_together(
    new: list[tuple[str, str]], before: list[tuple[str, str, Any]], dropped: set[str], data: st.DataObject
) -> None:
    old: Plan = {
        "version": 1,
        "subtasks": [
            {"id": key, "description": text, "depends_on": [], "expected": "", "status": status}
            for key, text, status in before
        ],
    }
    results = {key: result() for key, _, status in before if status == "finished"}
    taken = dropped - {key for key, _, _ in before}
    subtasks = [planned(key, [k for k, _ in new[:n]], text) for n, (key, text) in enumerate(new)]
    if plan_problem(subtasks, old=old, results=results) is not None:
        return
    joined = join_plan(subtasks, old=old, results=results, used_ids=taken)
    ids = [s["id"] for s in joined]
    assert len(ids) == len(set(ids)), "ids are unique"
    assert {s["id"] for s in joined if s["status"] == "finished"} == set(results), "finished work stays"
    assert all(set(s["depends_on"]) <= set(ids) for s in joined), "every dependency is there"
    fresh = {s["id"] for s in joined if s["status"] == "pending"}
    assert fresh.isdisjoint(results)
    assert fresh.isdisjoint(taken), "other work has attempts of its own"
    assert plan_problem([planned(s["id"], s["depends_on"]) for s in joined]) is None


def test_a_different_subtask_under_a_finished_id_is_renamed_and_dependencies_follow() -> None:
    old: Plan = {"version": 1, "subtasks": join_plan([planned("a")], old=None, results={})}
    joined = join_plan(
        [planned("a", description="other"), planned("b", ["a"])], old=old, results={"a": result()}
    )
    assert [(s["id"], s["depends_on"]) for s in joined] == [("a", []), ("a_2", []), ("b", ["a_2"])]


def test_a_program_for_a_result_whose_id_has_changed_is_left_to_its_worker() -> None:
    old: Plan = {"version": 1, "subtasks": join_plan([planned("sum")], old=None, results={})}
    code = {"tool": "python", "arguments": {"code": "2 * float(results['sum'])"}}
    new = [
        planned("sum", description="of 2025"),
        PlannedSubtask.model_validate(
            {"id": "twice", "description": "twice", "depends_on": ["sum"], "calls": [code]}
        ),
        PlannedSubtask.model_validate({"id": "other", "description": "other", "calls": [code]}),
    ]
    joined = join_plan(new, old=old, results={"sum": result()})
    assert [(s["id"], bool(s["call"])) for s in joined[1:]] == [
        ("sum_2", False),
        ("twice", False),
        ("other", True),
    ]


def test_ids_of_dropped_work() -> None:
    steps = [{"subtask": key, "n": n} for n, key in enumerate("cab", start=1)]
    state: Any = {"trajectory": steps, "progress": {"base_n": 1}}
    plan: Plan = {"version": 1, "subtasks": join_plan([planned("b")], old=None, results={})}
    assert dropped_ids(state, plan, None) == {"a"}, "of this task"


def test_what_is_discarded_cannot_be_depended_on() -> None:
    problem = plan_problem([planned("b", ["a"])], results={"a": result()}, discard=["a"])
    assert problem is not None
    assert "depends on 'a'" in problem


def test_a_new_id_is_not_one_that_the_same_plan_uses() -> None:
    old: Plan = {"version": 1, "subtasks": join_plan([planned("a")], old=None, results={})}
    new = [planned("a", description="other"), planned("a_2", description="more")]
    joined = join_plan(new, old=old, results={"a": result()})
    assert [s["id"] for s in joined] == ["a", "a_3", "a_2"]


def test_a_plan_in_force_is_written_without_its_statuses_and_joined_with_them() -> None:
    made: Plan = {"version": 1, "subtasks": join_plan([planned("a"), planned("b")], old=None, results={})}
    update = plan_update(made)
    assert not any("status" in item for item in update["plan"]["subtasks"])
    assert update["statuses"] == {CLEAR: None, "a": "pending", "b": "pending"}
    done = settle(made, {"a": result()})
    assert status_update(made, done) == {"statuses": {"a": "finished"}}
    assert status_update(done, done) == {}
    state = {"plan": update["plan"], "statuses": {"a": "finished"}}
    assert with_statuses(state)["plan"] == done
    assert with_statuses({"plan": {}}) == {"plan": {}}
