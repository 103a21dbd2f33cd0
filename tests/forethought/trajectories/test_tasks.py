"""The tasks file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forethought.trajectories.tasks import read_tasks


def write(tmp_path: Path, *records: Any) -> Path:
    """A tasks file."""
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records) + "\n")
    return path


def test_tasks_are_read_with_their_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x")
    path = write(
        tmp_path,
        {"id": "one", "task": "Sum?", "files": ["a.csv"], "expected": 42},
        {"id": "two", "task": "Which?", "expected": ["a", "b"]},
        {"id": "three", "task": "Do it", "checker": "checks:done"},
    )
    one, two, three = read_tasks(path)
    assert (one.files, one.expected) == ((str(tmp_path / "a.csv"),), ("42",))
    assert (two.expected, three.checker) == (("a", "b"), "checks:done")


def test_a_reference_stands_beside_either_judge(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"id": "one", "task": "Plan it", "checker": "checks:done", "reference": "Day 1: rest"},
        {"id": "two", "task": "Sum?", "expected": [4, "four"], "reference": " "},
    )
    assert [task.references for task in read_tasks(path)] == [("Day 1: rest",), ("4", "four")]


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([{"id": "a", "task": "x"}], "tasks.jsonl:1: the record: give either expected"),
        ([{"id": "a", "task": "x", "expected": "1", "checker": "m:f"}], "give either"),
        ([{"id": "a b", "task": "x", "expected": "1"}], ":1: id: "),
        ([{"id": "a", "task": "x", "expected": "1"}] * 2, ":2: the id 'a' is used twice"),
        ([{"id": "a", "task": "x", "expected": "1", "files": ["no.csv"]}], "the file 'no.csv' is not there"),
        ([{"id": "a", "task": "x", "expected": "1", "answer": "1"}], ":1: answer: "),
        ([], "no tasks in it"),
    ],
)
def test_a_slip_is_refused_with_its_line(tmp_path: Path, records: list[Any], said: str) -> None:
    with pytest.raises(ValueError, match=r"tasks\.jsonl") as refused:
        read_tasks(write(tmp_path, *records))
    assert said in str(refused.value)
