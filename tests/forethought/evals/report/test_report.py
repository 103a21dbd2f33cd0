"""Tables and page hold the figures, say what they rest on, and show what models wrote as mere text."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from forethought.app.main import run_cli
from forethought.evals.report.rows import figures_of, reference
from forethought.evals.report.table import markdown
from forethought.evals.report.write import write_page, write_tables
from forethought.evals.results import Evaluation, read_evaluation
from tests.support.evaluations import result_record, write_folder
from tests.support.tiny_benchmark import NAME


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    lines = [
        result_record("ours", "a", 1.0, groups={"level": "1"}, floor=0.0, self_scores={"planner": [9, 8]}),
        result_record(
            "ours", "b", 1.0, groups={"level": "2"}, floor=1.0, plan_errors=[["tool_selection"], []]
        ),
        result_record("ours", "c", 0.0, groups={"level": "2"}, floor=0.0),
        result_record("react", "a", 0.0, groups={"level": "1"}, asked_outcome=True),
        result_record("react", "b", 1.0, groups={"level": "2"}, values={"success": 1.0, "reward": 0.5}),
        result_record("react", "c", None, error="the server <script>is gone</script>"),
    ]
    return read_evaluation(write_folder(tmp_path / "run", lines))


def test_rows_and_the_comparison_with_the_first_method(evaluation: Evaluation) -> None:
    ours, react = figures_of(evaluation).rows
    assert ours.main
    assert react.main
    assert (ours.samples, ours.main.mean, ours.floor) == (3, pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert (react.samples, react.infrastructure_failures, react.main.mean) == (2, 1, 0.5)
    assert react.floor is None
    assert ours.groups["level 2"].mean == 0.5
    assert ours.spend.tokens == 1000
    assert ours.spend.total_usd == pytest.approx(0.03)
    assert react.metrics["reward"].n == 1
    (one,) = figures_of(evaluation).paired
    assert (one.base, one.other, one.difference.n, one.better, one.worse) == ("ours", "react", 2, 0, 1)


def test_an_unknown_price_is_not_zero(tmp_path: Path) -> None:
    usage = {"calls": 1, "input_tokens": 5, "output_tokens": 5, "usd": 0.0, "unpriced": 1}
    found = read_evaluation(write_folder(tmp_path, [result_record("ours", "a", 1.0, usage=usage)]))
    row = figures_of(found).rows[0]
    assert row.spend.usd is None
    assert "| ? |" in markdown(found.run, figures_of(found))


def test_markdown_says_what_it_rests_on(evaluation: Evaluation) -> None:
    text = markdown(evaluation.run, figures_of(evaluation))
    assert "20 steps and 100,000 tokens per sample" in text
    assert "1 trial(s) had no working model" in text
    assert "| react* | 2 |" in text
    assert "scripted:" not in text.replace("openai:scripted", "")
    scripted = evaluation.run.model_copy(update={"scripted": True})
    assert "The model is scripted" in markdown(scripted, figures_of(evaluation))


def test_unscored_answers_and_failed_trials_are_counted_apart(tmp_path: Path) -> None:
    lines = [
        result_record("ours", "a", None, label="unscored", answer="7"),
        result_record("ours", "b", None, error="no server"),
    ]
    found = read_evaluation(write_folder(tmp_path, lines))
    made = figures_of(found)
    assert (made.rows[0].infrastructure_failures, made.rows[0].unscored) == (1, 1)
    text = markdown(found.run, made)
    assert "1 trial(s) had no working model" in text
    assert "1 answer(s) cannot be scored here" in text
    assert '<span class="note">unscored</span>' in write_page(found, made).read_text()


def test_several_trials_show_pass_k(tmp_path: Path) -> None:
    lines = [result_record("ours", "a", score, trial=at) for at, score in enumerate((1.0, 0.0), 1)]
    found = read_evaluation(write_folder(tmp_path, lines, trials=2, context={"max_rounds": 2}))
    text = markdown(found.run, figures_of(found))
    assert "| ours | 1 x 2 |" in text
    assert "| ours | 50.0 | 50.0 | 100.0 | 0.0 |" in text
    assert "seed 7; --set max_rounds 2. " in text


def test_tables_are_written_as_markdown_and_json(evaluation: Evaluation) -> None:
    write_tables(evaluation, lambda results: {"best": max(result.score or 0 for result in results)})
    kept = json.loads((evaluation.folder / "results.json").read_text())
    assert kept["rows"][0]["summary"] == {"best": 1.0}
    assert kept["run"]["model"] == "openai:scripted"
    assert (evaluation.folder / "table.md").read_text().startswith("# Small shop")


def test_the_page_shows_text_as_text_and_loads_nothing(evaluation: Evaluation) -> None:
    path = write_page(evaluation, figures_of(evaluation))
    html = path.read_text()
    assert "<script" not in html
    assert "the server &lt;script&gt;is gone" in html
    assert not re.search(r"""(?:src|href)=["'](?!#)""", html)
    assert html.count("<figure>") == 3
    assert {file.suffix for file in (evaluation.folder / "plots").iterdir()} == {".svg", ".png"}


def test_a_folder_names_no_code_that_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "evil_benchmark.py").write_text("BENCHMARK = None\n")
    lines = [result_record("ours", "a", 1.0), result_record("react", "a", 0.0)]
    for name in ("evil_benchmark:BENCHMARK", "evil_benchmark"):
        folder = str(write_folder(tmp_path / "run", lines, benchmark=name))
        for command in (("eval", "report", folder), ("eval", "compare", folder)):
            assert run_cli(command) == 0, capsys.readouterr().err
    assert "evil_benchmark" not in sys.modules


def test_an_own_benchmark_that_is_named_gives_its_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [result_record("ours", "a", 1.0), result_record("react", "a", 0.0)]
    folder = str(write_folder(tmp_path / "run", lines, benchmark="tiny"))
    assert run_cli(["eval", "report", folder]) == 0
    assert "--benchmark" in capsys.readouterr().err
    assert run_cli(["eval", "report", folder, "--benchmark", NAME]) == 0
    assert "--benchmark" not in capsys.readouterr().err
    for wrong, said in (
        ("hotpotqa", "is an evaluation on tiny, not on hotpotqa"),
        ("no_such_module:X", "No module named 'no_such_module'; name it as MODULE:OBJECT"),
    ):
        assert run_cli(["eval", "compare", folder, "--benchmark", wrong]) == 2
        assert said in " ".join(capsys.readouterr().err.split())


def test_an_ablation_is_compared_with_what_it_is_taken_from(tmp_path: Path) -> None:
    names = ("ours", "ours-paper", "no-intra", "react")
    lines = [result_record(name, sample, 1.0) for name in names for sample in "ab"]
    found = read_evaluation(write_folder(tmp_path / "all", lines))
    bases = [(one.other, one.base) for one in figures_of(found).paired]
    assert dict(bases) == {"ours-paper": "ours", "no-intra": "ours-paper", "react": "ours"}
    assert "is missing; compare" not in markdown(found.run, figures_of(found))
    rest = [line for line in lines if line["method"] != "ours-paper"]
    alone = read_evaluation(write_folder(tmp_path / "alone", rest))
    assert "ours-paper is missing; compare no-intra with it" in markdown(alone.run, figures_of(alone))
    assert reference("no-intra (x)", ["ours-paper (x)", "ours-paper (y)"]) == "ours-paper (x)"
