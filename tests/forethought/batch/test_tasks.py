"""The file of tasks: what is read, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forethought.batch import BatchTask, read_batch


def written(folder: Path, *lines: object) -> Path:
    path = folder / "tasks.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def test_a_task_needs_only_its_text_and_keeps_its_id_when_the_file_changes(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    lines = [{"task": "one"}, {"task": "one"}, {"task": "two", "files": ["a.txt"]}]
    first = read_batch(written(tmp_path, *lines))
    assert len({task.id for task in first}) == 3
    assert first[2].files == (str(tmp_path / "a.txt"),)
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "a.txt").write_text("a")
    again = read_batch(written(other, {"id": "new", "task": "three"}, "", *lines))
    assert [task.id for task in again[1:]] == [task.id for task in first]


def test_what_no_database_holds_is_taken_out_of_a_task() -> None:
    assert BatchTask(task=" a\0b ").task == "ab"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "no tasks in it"),
        (['{"task": "a"'], ":1: broken JSON"),
        (["[" * 100_000], ":1: broken JSON"),
        (['["a"]'], ":1: the record: "),
        ([{"task": "a"}, {"task": " "}], ":2: task: the task is empty: say what is asked"),
        ([{"id": "a"}], ":1: task: is missing"),
        ([{"id": "../a", "task": "a"}], ":1: id: is empty, too long, or has a character"),
        ([{"id": "a", "task": "a"}, {"id": "a", "task": "b"}], ":2: the id 'a' is used twice (line 1)"),
        ([{"task": "a", "expected": "b"}], ":1: expected: is not known; known: id, task, files"),
        ([{"task": "a", "files": ["none.txt"]}], ":1: the file 'none.txt' is not there"),
        ([{"task": "a", "files": ["a\0b"]}], r":1: the file 'a\x00b' is not there"),
        ([{"task": "a", "files": ["a" * 300]}], ":1: the file 'aaa"),
        (['{"task": "a", "task": "b"}'], ":1: broken JSON ('task' is given twice)"),
        ([{"task": "a", "context": {"max_steps": -1}}], ":1: context: max_steps: "),
        ([{"task": "a", "context": {"api_key": "x"}}], ":1: context: api_key: is not known; "),
        ([{"task": "a", "priority": "high"}], ":1: priority: "),
        (['{"task": "a\\ud800"}'], ":1: task: "),
    ],
    ids=str,
)
def test_a_bad_line_is_named(tmp_path: Path, lines: list[object], told: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011, its words are looked at
        read_batch(written(tmp_path, *lines))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        read_batch(tmp_path / "none.jsonl")
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="not UTF-8"):
        read_batch(tmp_path / "bytes.jsonl")
