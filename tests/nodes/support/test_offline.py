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
