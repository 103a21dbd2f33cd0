"""What a benchmark says of files that are missing or damaged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from forethought.evals.benchmarks.reading import (
    Source,
    check_unique,
    choice,
    csv_of,
    find,
    json_of,
    jsonl_of,
    rows_of,
)
from forethought.evals.types import DataError

SOURCE = Source("Get it at example.org (CC BY 4.0)")


class Row(BaseModel):
    """A record."""

    question: str
    number: int = 0


def test_a_file_is_found_in_the_folder_or_below_it(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "b.json").write_text("[]")
    assert find(tmp_path, ("a.json", "b.json"), SOURCE, ("", "data")) == tmp_path / "data" / "b.json"
    with pytest.raises(DataError, match=r"no a\.json or b\.json in this folder\. Get it at example"):
        find(tmp_path, ("a.json", "b.json"), SOURCE)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'[\n{"question": }', r"broken JSON \(.* line 2 "),
        (b"\xff\xfe\x00", "not UTF-8 text"),
        (b"{}", "must contain a JSON list"),
        (b'[{"question": "q"}, {"question": 1}]', r"record 2: question: Input should be a valid string"),
    ],
)
def test_a_damaged_json_file_is_reported_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"^{path}[^\n]*{message}[^\n]*{re.escape(SOURCE.where)}$"):
        rows_of(Row, json_of(path, SOURCE), path, SOURCE)


def test_errors_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    # A line separator within a text ends no line.
    path.write_text('{"question": "a\u2028b"}\n\n{"question": "c"}\n{"quest', "utf-8")
    lines = jsonl_of(path, SOURCE)
    assert [next(lines), next(lines)] == [
        (f"{path}:1", {"question": "a\u2028b"}),
        (f"{path}:3", {"question": "c"}),
    ]
    with pytest.raises(DataError, match=r"x\.jsonl:4: broken JSON"):
        next(lines)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('\ufeffa,b\n1,"two\nlines, and \u2028"\n3,4\n', ""),
        ("a\n1\n", ":1: the column b is missing"),
        ("a,b\n1,2\n1\n", ":3: the row and the header have different numbers of cells"),
        ('a,b\n1,"x\n', ":2: broken CSV"),
    ],
)
def test_a_csv_file_is_read_or_reported_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(content, "utf-8")
    if message:
        with pytest.raises(DataError, match=message):
            list(csv_of(path, ("a", "b"), SOURCE))
    else:
        rows = [dict(row) for _, row in csv_of(path, ("a", "b"), SOURCE)]
        assert rows == [{"a": "1", "b": "two\nlines, and \u2028"}, {"a": "3", "b": "4"}]


def test_options_have_a_default_and_refuse_what_is_unknown() -> None:
    assert choice({}, "split", ("dev", "test")) == "dev"
    assert choice({"split": "test"}, "split", ("dev", "test")) == "test"
    with pytest.raises(DataError, match="option split=train: choose one of dev, test"):
        choice({"split": "train"}, "split", ("dev", "test"))


@pytest.mark.parametrize(
    ("ids", "message"),
    [(["a", "a"], "is used twice"), (["a b"], "is not a valid id"), ([""], "not a valid id")],
)
def test_ids_are_plain_and_unique(ids: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        check_unique(ids, Path("x.json"), SOURCE)
