"""The sample of annotated runs: drawn from failed first trials, and read by AgentErrorBench."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from benchmarks import debugging_agreement
from benchmarks.annotated_runs import LABELS, LOGS, NUMBER, draw, first_trial, read_labels, write
from forethought.evals.benchmarks.agent_error_bench import BENCHMARK
from forethought.knowledge.error_taxonomy import load_taxonomy
from forethought.trajectories.read import read_trajectories
from forethought.trajectories.types import Annotation


def trial(number: int, questions: range, answer: str) -> str:
    runs = [
        f"Question: How deep is lake {question}?\n"
        + "".join(f"Thought {n}: Look.\nAction {n}: Search[{n}]\nObservation {n}: Mud.\n" for n in (1, 2))
        + f"Thought 3: So.\nAction 3: Finish[{answer}]\nObservation 3: Answer is INCORRECT\n"
        + f"Correct answer: {question} m\n\n"
        for question in questions
    ]
    heading = f"BEGIN TRIAL {number}\nTrial summary: Correct: 0, Incorrect: {len(runs)}, Halted: 0\n"
    return heading + "------------- BEGIN INCORRECT AGENTS -----------\n\n" + "".join(runs)


def logs(folder: Path) -> Path:
    for name, answer in zip(LOGS, ("1 ft", "2 ft"), strict=True):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(trial(1, range(10), answer) + trial(2, range(10, 20), answer))
    return folder


def test_the_draw_has_first_trials_only_and_a_question_once(tmp_path: Path) -> None:
    runs = first_trial(logs(tmp_path))
    assert len(runs) == 20
    drawn = draw(runs)
    assert len({run.trajectory.task for run in drawn}) == len(drawn) == 10
    assert {run.trajectory.answer for run in drawn} == {"1 ft", "2 ft"}
    assert draw(reversed(runs)) == drawn != draw(runs, seed=1)


def test_what_is_written_is_a_sample_of_the_benchmark_where_a_critical_error_is_known(tmp_path: Path) -> None:
    runs = draw(first_trial(logs(tmp_path / "logs")), number=3)
    error = {"critical_step": 2, "critical_module": "planning", "error_type": "inefficient_planning"}
    known, unknown, missing = (run.trajectory.id for run in runs)
    file = tmp_path / "labels.json"
    rows = [
        {"trajectory_id": known, "critical_error": error},
        {"trajectory_id": unknown, "critical_error": None},
    ]
    file.write_text(json.dumps({"runs": rows}))
    labels = read_labels(file)
    assert labels == {known: Annotation.model_validate(error)}
    write(runs, labels, tmp_path / "out")
    assert {run.trajectory.id for run in read_trajectories(tmp_path / "out")} == {known, unknown, missing}
    assert [(s.id, s.target) for s in BENCHMARK.samples(tmp_path / "out", {})] == [(known, error)]


def test_every_label_is_one_of_the_taxonomy() -> None:
    rows = json.loads(LABELS.read_text())["runs"]
    assert len({row["trajectory_id"] for row in rows}) == len(rows) == NUMBER
    taxonomy = load_taxonomy()
    for row in rows:
        named = [label for label in (row["critical_error"], *row["also_acceptable"]) if label]
        for label in map(Annotation.model_validate, named):
            assert taxonomy.resolve(label.critical_module, label.error_type) == label.error_type
        assert row["why"]


def test_the_documents_hold_the_agreement_that_the_records_give(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["debugging_agreement"])
    debugging_agreement.main()
    table, _ = capsys.readouterr().out.split("\n\n")
    document = (LABELS.parent.parent / "how-to" / "debug.md").read_text("utf-8")
    assert "| triage, annotation | 15 | 11 (0.48-0.89) | 9 (0.36-0.80) | 9 (0.36-0.80) |" in table
    said = re.search(r"in\s+(\d+)\s+of\s+(\d+)\s+runs,\s+`triage`\s+in\s+(\d+)[^.]*?(\d+)\.", document)
    rows = [
        re.search(rf"^\| {method}, annotation \| (\d+) \| (\d+) ", table, re.MULTILINE)
        for method in ("agentdebug", "triage", "last step")
    ]
    runs, found = zip(*(row.groups() for row in rows if row), strict=True)
    assert said is not None
    assert said.groups() == (found[0], runs[0], *found[1:])


def test_agreement_counts_what_is_accepted_and_leaves_out_runs_without_a_label() -> None:
    found = {"critical_step": 2, "critical_module": "action", "error_type": "parameter_error"}
    one, other = (debugging_agreement.place(found), (2, "planning", "inefficient_planning"))
    pairs = [(one, [other, one]), (one, [other]), ((), [one]), (one, [()])]
    _, runs, *cells = debugging_agreement.agreement("x", pairs).split(" | ")
    assert (runs, [cell[0] for cell in cells]) == ("3", ["2", "1", "1"])
