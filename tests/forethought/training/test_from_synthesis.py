"""Records of a synthesis: our own runs as they show themselves to the role, others as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forethought.nodes.support import prompt_text
from forethought.tools.files import FileStore
from forethought.training.from_synthesis import reflection_records, steps_text
from forethought.training.records import ReflectionRecord
from forethought.trajectories.own import from_state
from forethought.trajectories.types import Trajectory
from tests.support.sample_state import late
from tests.support.synthesizing import trial_of

Json = dict[str, Any]


def record_of(trajectory: Trajectory, merged: str, folder: Path) -> ReflectionRecord:
    """The one record of a synthesizer's state with one trial a key."""
    store = FileStore(folder)
    stored = store.put(trajectory.model_dump_json().encode())
    trial = {"task": "t1", "id": trajectory.id, "background": "a.csv (text/csv, 9 bytes)", "stored": stored}
    values: Json = {
        "tasks": {"t1": {"task": trajectory.task, "task_id": "sum"}},
        "trials": {"t1.1": trial, "t1.2": trial},
        "pool": ["t1.1", "t1.2"],
        "merged": {merged: "Add before you answer."},
    }
    (record,) = reflection_records(values, store)
    return record


def own() -> Trajectory:
    """A run of this project's agent: a call, a failed call, a result, an answer."""

    def step(n: int, **changes: Any) -> Json:
        plain = {"n": n, "task": 1, "plan_version": 1, "subtask": "s1", "thought": "go", "action": "call"}
        return {**plain, "tool": "add", "arguments": {"a": 1}, "ok": True, "observation": "2", **changes}

    state = {
        "task": "Add it up.",
        "progress": {"task": 1},
        "plan": {"version": 1, "why": "first", "subtasks": [{"id": "s1", "description": "Add"}]},
        "trajectory": [step(1), step(2, ok=False, cause="tool", observation="it broke")],
        "answer": "3",
        "draft": {"evaluation": "thin", "score": 4, "used_steps": [1]},
    }
    return from_state(state, {}, id="sum--1")


def test_a_run_of_our_own_reads_as_the_role_sees_it(tmp_path: Path) -> None:
    record = record_of(own(), "t1.1", tmp_path)
    assert record.trajectory.split("\n") == [
        'step 1 [s1] add({"a": 1}): ok: 2',
        'step 2 [s1] add({"a": 1}): FAILED (tool): it broke',
    ]
    assert (record.answer, record.evaluation, record.score) == ("3", "thin", 4)
    assert record.plan == "Plan 1: first\n- s1: Add"
    assert (record.task_id, record.background) == ("sum", "a.csv (text/csv, 9 bytes)")


def test_a_run_of_another_agent_is_text_with_its_thoughts(tmp_path: Path) -> None:
    trajectory = trial_of("Ulm", 1, ["wrong_unit"]).trajectory
    record = record_of(trajectory, "t1.2", tmp_path)
    assert record.trajectory == (
        "step 1:\n  planning: On to wrong_unit 1.\n  action: go\n  observation: the scale counts kilograms"
    )


def test_calls_stand_in_a_record_as_a_run_shows_them() -> None:
    calls = (late()["trajectory"] or [])[:2]
    shown = from_state({"task": "t", "progress": {"task": 2}, "trajectory": calls}, {}).steps
    assert steps_text(shown) == prompt_text.steps_text(calls)
