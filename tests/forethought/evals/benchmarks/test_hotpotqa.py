"""HotpotQA: its files, its settings, its score, and the questions that are left out."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from forethought.evals.benchmarks.hotpotqa import BENCHMARK
from forethought.evals.benchmarks.learned_from import SHIPPED
from forethought.evals.types import DataError
from forethought.knowledge.provenance import provenance_path, used_fingerprints, used_question
from tests.support.answers import score, services, write_json

LEARNED = "Are both Duke Energy and Affiliated Managers Group based in Massachusetts?"
"""One that the shipped planning errors were distilled from."""
ROWS: list[dict[str, Any]] = [
    {
        "_id": "5a1",
        "question": "Which river flows through the town with the tallest steeple?",
        "answer": "the Danube",
        "type": "bridge",
        "level": "hard",
        "supporting_facts": [["Ulm", 0]],
        "context": [
            ["Ulm", ["Ulm lies on the Danube.", " It has a minster."]],
            ["Rome", ["Rome has hills."]],
        ],
    },
    {"_id": "5a2", "question": LEARNED, "answer": "no", "type": "comparison", "context": [["A", ["b"]]]},
]


def place(tmp_path: Path, rows: Any = ROWS, name: str = "hotpot_dev_distractor_v1.json") -> Path:
    """A folder with a file."""
    write_json(tmp_path / name, rows)
    return tmp_path


def test_distractor_questions_come_with_a_search(tmp_path: Path) -> None:
    (sample,) = BENCHMARK.samples(place(tmp_path), {})
    assert (sample.id, sample.task, sample.target) == ("5a1", ROWS[0]["question"], "the Danube")
    assert dict(sample.groups) == {"type": "bridge", "level": "hard"}
    tools = BENCHMARK.tools(sample, services())
    assert [tool.name for tool in tools] == ["search_paragraphs", "read_paragraph"]
    assert sample.data["paragraphs"][0] == ["Ulm", "Ulm lies on the Danube. It has a minster."]


@pytest.mark.parametrize(
    "name", ["hotpot_dev_fullwiki_v1.json", "hotpot_dev_distractor_v1.json", "hotpot_dev_v1_simplified.json"]
)
def test_fullwiki_questions_come_with_the_web(tmp_path: Path, name: str) -> None:
    (sample,) = BENCHMARK.samples(place(tmp_path, name=name), {"setting": "fullwiki"})
    assert [tool.name for tool in BENCHMARK.tools(sample, services())] == ["web_search", "visit_webpage"]
    assert "Rome has hills" not in sample.task


def test_the_simplified_file_needs_no_ids(tmp_path: Path) -> None:
    rows = [{"question": f"Question {n}?", "answer": "yes", "type": "comparison"} for n in range(2)]
    samples = BENCHMARK.samples(
        place(tmp_path, rows, "hotpot_dev_v1_simplified.json"), {"setting": "fullwiki"}
    )
    assert [sample.id for sample in samples] == ["dev-0000", "dev-0001"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{**ROWS[0], "answer": ""}], "record 1: answer"),
        ([{**ROWS[0], "context": []}], "record 1: the record has no context: use setting=fullwiki"),
    ],
)
def test_bad_rows_are_refused(tmp_path: Path, rows: Any, message: str) -> None:
    with pytest.raises(DataError, match=message) as error:
        BENCHMARK.samples(place(tmp_path, rows), {})
    assert "CC BY-SA" in str(error.value)


async def test_scores_are_the_official_ones(tmp_path: Path) -> None:
    (sample,) = BENCHMARK.samples(place(tmp_path), {})
    half = await score(BENCHMARK, sample, "Danube river")
    assert half.values == pytest.approx({"em": 0.0, "f1": 2 / 3, "precision": 1 / 2, "recall": 1.0})
    assert (await score(BENCHMARK, sample, "Danube.")).values["em"] == 1.0
    assert (await score(BENCHMARK, sample, "")).values["em"] == BENCHMARK.floor(sample) == 0.0


def test_what_the_shipped_errors_were_distilled_from_is_left_out_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert used_question(LEARNED)["sha256"] in used_fingerprints(SHIPPED)
    with caplog.at_level(logging.WARNING):
        assert len(BENCHMARK.samples(place(tmp_path), {})) == 1
    assert caplog.messages == ["left out 1 of 2 questions, from which planning_errors.yaml was distilled"]
    caplog.clear()
    assert len(BENCHMARK.samples(tmp_path, {"leave_out": "none"})) == 2
    assert caplog.messages == []


def test_or_what_other_errors_were_distilled_from(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    write_json(provenance_path(own), {"questions": [used_question(str(ROWS[0]["question"]).upper())]})
    (sample,) = BENCHMARK.samples(place(tmp_path), {"leave_out": str(own)})
    assert sample.id == "5a2"
    with pytest.raises(DataError, match=r"other\.provenance\.json: not found, .*leave_out=none"):
        BENCHMARK.samples(tmp_path, {"leave_out": str(tmp_path / "other.yaml")})
    provenance_path(own).write_text("{")
    with pytest.raises(DataError, match="broken JSON"):
        BENCHMARK.samples(tmp_path, {"leave_out": str(own)})
