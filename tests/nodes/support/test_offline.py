"""Runs are sorted by the task that their source names, and by its text only where it names none."""

from __future__ import annotations

from forethought.nodes.support.offline import runs_by_task


def run(task: str, answer: str, **origin: str) -> dict[str, object]:
    return {"id": answer, "task": task, "steps": [], "answer": answer, **origin}


def test_a_task_id_joins_runs_whose_text_differs_and_parts_those_whose_text_agrees():
    groups = runs_by_task(
        [
            run("Hello, I want to cancel.", "a", environment="shop", task_id="4"),
            run("Hi! Cancel my order.", "b", environment="shop", task_id="4"),
            run("Hello, I want to cancel.", "c", environment="shop", task_id="5"),
            run("Hello, I want to cancel.", "d", environment="bank", task_id="4"),
        ]
    )
    assert [[item.trajectory.id for item in runs] for runs in groups.values()] == [["a", "b"], ["c"], ["d"]]


def test_without_a_task_id_the_words_of_the_task_decide():
    groups = runs_by_task([run("Cancel it!", "a"), run("cancel  it", "b"), run("Keep it", "c")])
    assert [len(runs) for runs in groups.values()] == [2, 1]


def test_a_run_whose_task_is_worded_otherwise_shows_its_own_words():
    step = {"number": 1, "given": "a map", "action": "look"}
    first, second, third = (
        {**run(task, key, environment="shop", task_id="4"), "steps": [step]}
        for task, key in (("I am a member.", "a"), ("Hello!", "b"), ("I am a member.", "c"))
    )
    (runs,) = runs_by_task([first, second, third]).values()
    given = [item.trajectory.steps[0].given for item in runs]
    assert given == ["a map", "The task as this run was given it: Hello!\n\na map", "a map"]
    assert runs[1].trajectory.task == "Hello!"
