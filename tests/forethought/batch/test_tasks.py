"""The file of tasks: what is read, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forethought.batch import read_batch


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


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "no tasks in it"),
        (['{"task": "a"'], ":1: broken JSON"),
        ([{"task": "a"}, {"task": " "}], ":2: task: string should have at least 1 character"),
        ([{"id": "a"}], ":1: task: field required"),
        ([{"id": "../a", "task": "a"}], ":1: id: string should match pattern"),
        ([{"id": "a", "task": "a"}, {"id": "a", "task": "b"}], "the id 'a' is used twice"),
        ([{"task": "a", "expected": "b"}], ":1: expected: extra inputs are not permitted"),
        ([{"task": "a", "files": ["none.txt"]}], ":1: the file 'none.txt' is not there"),
    ],
    ids=str,
)
def test_a_bad_line_is_named(tmp_path: Path, lines: list[object], told: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011, its words are looked at
        read_batch(written(tmp_path, *lines))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
