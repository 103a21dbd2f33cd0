"""Reading an evaluation's folder: the last line of a trial counts, damage is told in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_a_line_cut_off_by_a_kill_is_left_out(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [result_record("ours", "a", 1.0)])
    with (folder / "results.jsonl").open("a") as file:
        file.write('{"method": "ours", "sam')
    assert len(read_evaluation(folder).results) == 1


def test_a_broken_line_in_the_middle_is_told(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [result_record("ours", "a", 1.0)])
    path = folder / "results.jsonl"
    path.write_text('{"method": "ours", "sam\n' + path.read_text())
    with pytest.raises(ResultsError, match=r"results\.jsonl:1: broken JSON; remove the line"):
        read_evaluation(folder)


@pytest.mark.parametrize("text", ["", "[]", '{"benchmark": 3}', "{" * 5000])
def test_a_folder_of_something_else(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ResultsError, match="holds no evaluation"):
        read_evaluation(tmp_path)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="give the folder that"):
        read_evaluation(tmp_path / "none")


@given(st.lists(st.text(max_size=40).map(str.encode) | st.binary(max_size=40), max_size=4))
def test_wild_lines_end_in_results_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    folder = write_folder(tmp_path_factory.mktemp("wild"), [])
    (folder / "results.jsonl").write_bytes(b"\n".join(lines))
    told = ""
    try:
        read_evaluation(folder)
    except ResultsError as error:
        told = str(error)
    assert "\n" not in told


def test_merging_names_equal_methods_by_folder_and_tells_differences(tmp_path: Path) -> None:
    one = write_folder(tmp_path / "one", [result_record("ours", "a", 1.0), result_record("react", "a", 0.0)])
    two = write_folder(tmp_path / "two", [result_record("ours", "a", 0.0)], model="openai:other")
    evaluation, differences = merged(read_evaluations([one, two / "logs" / "x.eval"]))
    assert evaluation.methods == ["ours (one)", "react", "ours (two)"]
    assert differences == ["model differs: one: openai:scripted; two: openai:other"]


def test_merging_tells_what_our_agent_was_set_to(tmp_path: Path) -> None:
    one = write_folder(tmp_path / "one", [result_record("ours", "a", 1.0)])
    two = write_folder(tmp_path / "two", [result_record("ours", "a", 0.0)], context={"max_rounds": 2})
    assert merged(read_evaluations([one, two]))[1] == ["context differs: one: {}; two: {'max_rounds': 2}"]


def test_samples_of_other_data_are_not_compared(tmp_path: Path) -> None:
    texts = ({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"})
    one, two = (
        write_folder(tmp_path / name, [result_record("ours", "a", 1.0)], samples=samples)
        for name, samples in zip(("one", "two"), texts, strict=True)
    )
    with pytest.raises(ResultsError, match="the sample b has another text than in"):
        merged(read_evaluations([one, two]))


def test_other_benchmarks_are_not_compared(tmp_path: Path) -> None:
    one = write_folder(tmp_path / "one", [result_record("ours", "a", 1.0)])
    two = write_folder(tmp_path / "two", [result_record("ours", "a", 0.0)], benchmark="gaia")
    with pytest.raises(ResultsError, match="compare evaluations of one benchmark"):
        merged(read_evaluations([one, two]))


def test_an_evaluation_without_results(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="no finished sample yet"):
        read_evaluations([write_folder(tmp_path, [])])
