"""The folder of an evaluation: torn lines, sums over all that was paid, damage."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forethought.evals.harness.folder import RunFolder
from forethought.evals.harness.plan import EvaluationPlan
from forethought.evals.results import Result, read_evaluation
from forethought.evals.types import Budget, Sample
from forethought.models.types import Usage
from tests.support.tiny_benchmark import BENCHMARK, once


def plan(trials: int = 1) -> EvaluationPlan:
    """One method on two samples."""
    return EvaluationPlan(
        benchmark=BENCHMARK,
        methods=(once,),
        samples=(Sample("a", "Count a."), Sample("b", "Count b.")),
        training=(),
        options={},
        trials=trials,
        limit=2,
        seed=0,
        model="openai:m",
        judge_model="openai:m",
        user_model="openai:m",
        budget=Budget(),
        seconds=60,
    )


def result(sample: str, trial: int = 1, score: float | None = 1.0, tokens: int = 10) -> Result:
    """A finished trial."""
    usage = Usage(
        calls=1, input_tokens=tokens, output_tokens=1, cached_tokens=0, usd=0.5, unpriced=0, seconds=1
    )
    judge = Usage(calls=1, input_tokens=1, output_tokens=0, cached_tokens=0, usd=0.25, unpriced=0, seconds=1)
    return Result(method="once", sample=sample, trial=trial, score=score, usage=usage, judge_usage=judge)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(cut=st.integers(0, 400), text=st.text(max_size=20))
def test_a_torn_line_is_dropped_and_whole_ones_stay(tmp_path: Path, cut: int, text: str) -> None:
    folder = RunFolder(tmp_path)
    (tmp_path / "results.jsonl").unlink(missing_ok=True)
    folder.open(plan())
    folder.keep(result("a"))
    folder.keep(result("b").model_copy(update={"answer": text}))
    whole = (tmp_path / "results.jsonl").read_bytes()
    first = whole.index(b"\n") + 1
    kept = min(first + cut, len(whole))
    (tmp_path / "results.jsonl").write_bytes(whole[:kept])
    found = folder.open(plan())
    wanted = ["a", "b"] if kept >= len(whole) - 1 else ["a"]
    assert [one.sample for one in found.results] == wanted
    folder.keep(result("b", 2))
    again = read_evaluation(tmp_path)
    assert [(one.sample, one.trial) for one in again.results] == [*((id, 1) for id in wanted), ("b", 2)]


@pytest.mark.parametrize("content", ["[]", "{"])
def test_a_damaged_run_file_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ValueError, match=r"run\.json: (not a JSON|broken JSON|not UTF-8)"):
        RunFolder(tmp_path).open(plan())
    assert (tmp_path / "run.json").read_text() == content
