"""MuSiQue: its files and aliases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forethought.evals.benchmarks.musique import BENCHMARK
from forethought.evals.types import DataError
from tests.support.answers import score, services, summary, without, write_jsonl

ROW: dict[str, Any] = {
    "id": "3hop1__1_2_3",
    "question": "Which sea takes the river of the town with the tallest steeple?",
    "answer": "Black Sea",
    "answer_aliases": ["Euxine Sea"],
    "answerable": True,
    "paragraphs": [
        {"idx": 0, "title": "Ulm", "paragraph_text": "Ulm lies on the Danube.", "is_supporting": True},
        {"idx": 1, "title": "Danube", "paragraph_text": "It ends in the Black Sea.", "is_supporting": True},
    ],
    "question_decomposition": [],
}


def place(tmp_path: Path, rows: list[dict[str, Any]]) -> Path:
    """A folder with a file."""
    write_jsonl(tmp_path / "musique_ans_v1.0_dev.jsonl", rows)
    return tmp_path


async def test_an_alias_is_as_good_as_the_answer(tmp_path: Path) -> None:
    (sample,) = BENCHMARK.samples(place(tmp_path, [ROW]), {})
    assert (sample.id, dict(sample.groups)) == ("3hop1__1_2_3", {"hops": "3"})
    assert [tool.name for tool in BENCHMARK.tools(sample, services())] == [
        "search_paragraphs",
        "read_paragraph",
    ]
    assert (await score(BENCHMARK, sample, "the Euxine Sea")).values == {"em": 1.0, "f1": 1.0}
    assert (await score(BENCHMARK, sample, "sea")).values == {"em": 0.0, "f1": pytest.approx(2 / 3)}
    assert (await score(BENCHMARK, sample, "unanswerable")).values["f1"] == 0.0
    assert BENCHMARK.floor(sample) == 0.0
    assert await summary(BENCHMARK, [(sample, "sea")]) == {}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "the file is empty"),
        ([ROW, without(ROW, "answer")], r"dev\.jsonl:2: answer: Field required"),
        ([ROW, ROW], "is used twice"),
    ],
)
def test_bad_rows_are_refused(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(DataError, match=message) as error:
        BENCHMARK.samples(place(tmp_path, rows), {})
    assert "CC BY 4.0" in str(error.value)
