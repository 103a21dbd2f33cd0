"""Text and JSON files: refusals of one line, and files that are whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from forethought.json_files import (
    FileError,
    read_object,
    read_records,
    read_text,
    sha256,
    write_json,
    write_records,
    write_text,
)


class Item(BaseModel):
    """A record of a test."""

    model_config = ConfigDict(extra="forbid")

    name: str
    count: int = 1


def written(tmp_path: Path, content: str | bytes) -> Path:
    """A file with this content."""
    path = tmp_path / "items.jsonl"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_records_are_read_with_their_line_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, '\ufeff{"name": "a"}\r\n\n{"name": "b\u2028c\x85d", "count": 2}\n')
    assert read_records(path, Item) == [(1, Item(name="a")), (3, Item(name="b\u2028c\x85d", count=2))]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"name": "a"}\n{"name":\n', ":2: broken JSON"),
        ("[" * 100_000, ":1: broken JSON (nested too deeply)"),
        ('{"name": 3}', ":1: name: "),
        ("{}", ":1: name: field required"),
        ('{"name": "a", "cuont": 2}', ":1: cuont: unknown field; use name, count"),
        ("3", ":1: the record: "),
        (b"\xff", "not UTF-8 text"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(tmp_path: Path, content: str | bytes, reason: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(FileError) as refused:
        read_records(path, Item)
    assert str(refused.value).startswith(str(path))
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["absent.json", "nul\0.json", "."])
def test_what_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        read_text(tmp_path / name)


def test_an_object_is_no_list(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="not a JSON object"):
        read_object(written(tmp_path, "[]"))


@pytest.mark.parametrize("value", [{"a": [1, "é"]}, {"a": "\ud800"}])
def test_what_is_written_is_whole_and_nothing_is_left_beside_it(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "new" / "a.json"
    write_json(path, value)
    write_json(path, value)
    assert read_object(path) == json.loads(json.dumps(value).replace("\\ud800", "?"))
    assert list(path.parent.iterdir()) == [path]
    write_records(path, [Item(name="a"), {"name": "b"}])
    assert [item.name for _, item in read_records(path, Item)] == ["a", "b"]
    assert len(sha256(path)) == 64


def test_a_write_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object) -> None:
        raise OSError("no space left")

    path = written(tmp_path, "before")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        write_text(path, "after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
