"""GAIA: its files, its quasi-exact match, and the split without answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from forethought.evals.benchmarks.gaia import BENCHMARK
from forethought.evals.benchmarks.gaia_scorer import quasi_exact_match
from forethought.evals.types import DataError, InfrastructureError
from tests.support.answers import score, write_jsonl

ROWS: list[dict[str, Any]] = [
    {"task_id": "a-1", "Question": "How many?", "Level": 1, "Final answer": "17000", "file_name": ""},
    {"task_id": "a-2", "Question": "Which?", "Level": "3", "Final answer": "b, c", "file_name": "a-2.xlsx"},
    {"task_id": "a-3", "Question": "Who?", "Level": 2, "Final answer": "St. Ives", "Annotator Metadata": {}},
]


def place(tmp_path: Path, split: str = "validation", rows: list[dict[str, Any]] = ROWS) -> Path:
    """A folder as the data set's."""
    write_jsonl(tmp_path / "2023" / split / "metadata.jsonl", rows)
    (tmp_path / "2023" / split / "a-2.xlsx").write_bytes(b"sheet")
    return tmp_path


def test_samples_have_level_answer_and_file(tmp_path: Path) -> None:
    samples = BENCHMARK.samples(place(tmp_path), {})
    assert [(sample.id, sample.target, dict(sample.groups)) for sample in samples] == [
        ("a-1", "17000", {"level": "1", "file": "none"}),
        ("a-2", "b, c", {"level": "3", "file": "xlsx"}),
        ("a-3", "St. Ives", {"level": "2", "file": "none"}),
    ]
    assert samples[1].files == (tmp_path / "2023/validation/a-2.xlsx",)
    assert all(sample.answer_format for sample in samples)
    assert [sample.id for sample in BENCHMARK.samples(tmp_path, {"level": "2"})] == ["a-3"]


async def test_the_test_split_is_read_and_not_scored(tmp_path: Path) -> None:
    rows = [{**row, "Final answer": "?"} for row in ROWS]
    samples = BENCHMARK.samples(place(tmp_path, "test", rows), {"split": "test"})
    assert {sample.target for sample in samples} == {None}
    assert BENCHMARK.floor(samples[0]) is None
    with pytest.raises(InfrastructureError, match=r"test answers are not public.*leaderboard"):
        await score(BENCHMARK, samples[0], "17000")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Level": 4}, r"metadata\.jsonl:1: Level"),
        ({"Final answer": "?"}, ":1: there is no Final answer"),
        ({"file_name": "gone.pdf"}, r":1: its file gone\.pdf is not in"),
        ({"file_name": "../../secret"}, ":1: its file"),
    ],
)
def test_bad_rows_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    (tmp_path / "secret").write_text("x")
    with pytest.raises(DataError, match=message) as error:
        BENCHMARK.samples(place(tmp_path, rows=[{**ROWS[0], **change}, *ROWS[1:]]), {})
    assert "gated" in str(error.value)


def test_parquet_without_its_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "metadata.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="pip install pyarrow"):
        BENCHMARK.samples(tmp_path, {})


def test_parquet_is_read_as_jsonl_is(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{key: row.get(key) for key in ROWS[0]} | {"Level": str(row["Level"])} for row in ROWS]
    place(tmp_path)
    (tmp_path / "2023/validation/metadata.jsonl").unlink()
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "2023/validation/metadata.parquet")
    assert [sample.id for sample in BENCHMARK.samples(tmp_path, {})] == ["a-1", "a-2", "a-3"]


@pytest.mark.parametrize(
    ("answer", "expected", "right"),
    [
        ("17,000", "17000", True),
        ("$17000.0", "17000", True),
        ("17000 km", "17000", False),
        ("", "17000", False),
        ("seventeen", "inf", True),  # the official scorer takes what is no number for infinity
        ("nan", "nan", False),
        ("sea gull!", "Seagull", True),
        ("the seagull", "seagull", False),
        ("B;  c", "b, c", True),
        ("b", "b, c", False),
        ("c, b", "b, c", False),
        ("b., c", "b, c", False),  # within a list punctuation counts
        ("$3, x", "3, x", True),
        ("3,x", "3.0; X", True),
        ("St Ives", "St. Ives", True),
    ],
)
def test_quasi_exact_match(answer: str, expected: str, right: bool) -> None:
    assert quasi_exact_match(answer, expected) is right


async def test_a_score_says_how_it_was_compared(tmp_path: Path) -> None:
    samples = BENCHMARK.samples(place(tmp_path), {})
    right = [await score(BENCHMARK, sample, str(sample.target)) for sample in samples]
    kinds = ("number", "list", "text")
    assert [(each.values["correct"], each.explanation) for each in right] == [
        (1.0, f"compared as a {kind}") for kind in kinds
    ]
    assert [BENCHMARK.floor(sample) for sample in samples] == [0.0, 0.0, 0.0]
