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


def test_a_question_may_lack_an_id_and_have_a_rubric(tmp_path: Path) -> None:
    path = write(tmp_path, {"question": "Sum?", "expected": 4}, {"task": "Plan it", "rubric": "names a day"})
    one, two = read_tasks(path)
    assert (one.id, one.task, one.expected) == ("1", "Sum?", ("4",))
    assert (two.id, two.rubric, two.references) == ("2", ("names a day",), ("names a day",))


def test_a_table_has_a_task_in_each_row(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("x")
    path = tmp_path / "tasks.csv"
    lines = ('"How many, and\nwhich?",a.txt | b.txt,4|four,', "Why?,,,names it | cites it", "")
    path.write_text("\n".join(("\ufeffquestion,files,expected,rubric", *lines)), "utf-8")
    one, two = read_tasks(path)
    assert (one.id, one.task, one.expected) == ("1", "How many, and\nwhich?", ("4", "four"))
    assert one.files == (str(tmp_path / "a.txt"), str(tmp_path / "b.txt"))
    assert (two.id, two.expected, two.rubric) == ("2", (), ("names it", "cites it"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "question,expected\nHow many?,4,5\n",
            "tasks.csv:2: the row and the header have different numbers of cells",
        ),
        ("question,expected\nHow many?,4\nWhy?,\n", "tasks.csv:3: the record: give one of: expected"),
        ('question,expected\n"How many?,4\n', "tasks.csv:2: broken CSV"),
        ("frage,expected\nWie?,4\n", "tasks.csv:2: task: "),
        ("question,expected\n", "or a CSV file with such columns"),
    ],
)
def test_a_slip_in_a_table_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "tasks.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"tasks\.csv") as refused:
        read_tasks(path)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([{"id": "a", "task": "x"}], "tasks.jsonl:1: the record: give one of: expected"),
        ([{"id": "a", "task": "x", "expected": "1", "checker": "m:f"}], "give one of"),
        ([{"id": "a b", "task": "x", "expected": "1"}], ":1: id: "),
        ([{"id": "a", "task": "x", "expected": "1"}] * 2, ":2: the id 'a' is used twice"),
        ([{"id": "a", "task": "x", "expected": "1", "files": ["no.csv"]}], "there is no file 'no.csv'"),
        ([{"id": "a", "task": "x", "expected": "1", "answer": "1"}], ":1: answer: "),
        ([], "no tasks in it"),
    ],
)
def test_a_slip_is_refused_with_its_line(tmp_path: Path, records: list[Any], said: str) -> None:
    with pytest.raises(ValueError, match=r"tasks\.jsonl") as refused:
        read_tasks(write(tmp_path, *records))
    assert said in str(refused.value)
