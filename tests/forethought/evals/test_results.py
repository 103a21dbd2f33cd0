"""Reading an evaluation's folder: the last line of a trial counts, damage is reported in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forethought.evals.results import (
    ResultsError,
    mean_by_sample,
    merged,
    read_evaluation,
    read_evaluations,
)
from tests.support.evaluations import result_record, write_folder


def test_a_trial_tried_again_counts_once(tmp_path: Path) -> None:
    lines = [result_record("ours", "a", None, error="no server"), result_record("ours", "a", 1.0)]
    found = read_evaluation(write_folder(tmp_path, lines))
    assert [result.score for result in found.of("ours")] == [1.0]
    assert found.failures("ours") == []


def test_what_could_not_be_tried_is_no_zero(tmp_path: Path) -> None:
    lines = [result_record("ours", "a", 1.0), result_record("ours", "b", None, error="no server")]
    found = read_evaluation(write_folder(tmp_path, lines))
    assert mean_by_sample(found.of("ours")) == {"a": 1.0}
    assert [result.error for result in found.failures("ours")] == ["no server"]


def test_a_broken_line_in_the_middle_is_an_error(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [result_record("ours", "a", 1.0)])
    path = folder / "results.jsonl"
    path.write_text('{"method": "ours", "sam\n' + path.read_text())
    with pytest.raises(ResultsError, match=r"results\.jsonl:1: broken JSON; remove the line"):
        read_evaluation(folder)


@pytest.mark.parametrize("text", ["", "[]", '{"benchmark": 3}'])
def test_a_folder_of_something_else(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ResultsError, match="the evaluation is damaged"):
        read_evaluation(tmp_path)
    with pytest.raises(ResultsError, match="give one that"):
        read_evaluation(tmp_path / "none")


def pair(tmp_path: Path, **changes: Any) -> list[Path]:
    """Two evaluations; the second one's run has `changes`."""
    results = [result_record("ours", "a", 1.0), result_record("react", "a", 0.0)]
    one = write_folder(tmp_path / "one", results, samples={"a": "1", "b": "2"})
    return [one, write_folder(tmp_path / "two", results[:1], **changes)]


def test_merging_names_equal_methods_by_folder_and_tells_differences(tmp_path: Path) -> None:
    one, two = pair(tmp_path, model="openai:other", context={"max_rounds": 2})
    evaluation, differences = merged(read_evaluations([one, two / "logs" / "x.eval"]))
    assert evaluation.methods == ["ours (one)", "react", "ours (two)"]
    assert differences == [
        "model differs: one: openai:scripted; two: openai:other",
        "context differs: one: {}; two: {'max_rounds': 2}",
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"samples": {"a": "1", "b": "3", "c": "4"}}, "the text of sample b differs from that in"),
        ({"benchmark": "gaia"}, "compare evaluations of one benchmark"),
    ],
    ids=["other data", "other benchmark"],
)
def test_what_is_not_alike_is_not_compared(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ResultsError, match=message):
        merged(read_evaluations(pair(tmp_path, **changes)))


def test_an_evaluation_without_results(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="no finished sample yet"):
        read_evaluations([write_folder(tmp_path, [])])
