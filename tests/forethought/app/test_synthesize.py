"""`forethought synthesize`: from a tasks file or trajectories to records that a model can be trained on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forethought.knowledge.planning_errors import load_planning_errors
from forethought.training.dataset import read_rows
from forethought.training.records import ReflectionRecord
from tests.forethought.app.conftest import Cli, Serve
from tests.support.counting import REMEDY, Counter
from tests.support.synthesizing import Reader, trial_of

Json = dict[str, Any]


def tasks(path: Path, *names: str, **fields: Any) -> str:
    """A tasks file."""
    given = fields or {"expected": "42"}
    path.write_text("".join(json.dumps({"id": n, "task": f"Count the {n}.", **given}) + "\n" for n in names))
    return str(path)


def runs(path: Path, *loaded: Any) -> str:
    """A file of trajectories."""
    path.write_text("".join(f"{item.model_dump_json()}\n" for item in loaded))
    return str(path)


def test_tasks_are_tried_and_reflected_upon_and_the_records_can_be_exported(
    cli: Cli, served: Serve, tmp_path: Path
) -> None:
    server = served(Counter())
    command = ("synthesize", tasks(tmp_path / "t.jsonl", "cats", "dogs"), "--out", "r.jsonl", "--json")
    out = cli(*command)
    assert (out.code, out.json["status"]) == (0, "synthesized"), out.err
    assert out.json["outcomes"] == {"failure": 2, "success": 2}
    records = read_rows(Path("r.jsonl"), ReflectionRecord)
    assert [(item.task_id, item.trajectory_id) for item in records] == [
        ("cats", "cats--1"),
        ("dogs", "dogs--1"),
    ]
    assert records[0].reflection == f"Step 1 counted the cats only once. Next time, {REMEDY}."
    assert records[0].answer == "41"
    assert "s1: Count the cats" in records[0].plan
    assert "step 1 [s1] finish: counted the cats" in records[0].trajectory
    micro = next(seen for seen in server.requests if seen.reply_name == "TrialReflection")
    assert "Tools that it had: " in micro.last
    made = out.json["error_reflections"]["single_count"]
    assert made["cites"] == ["cats--1", "dogs--1"]
    assert "42" not in json.dumps([item.model_dump() for item in records])
    assert cli("train", "export", "r.jsonl", "--out", "data").code == 0
    calls = len(server.names)
    assert (cli(*command).code, len(server.names)) == (0, calls), "the same command repeats nothing"
    assert cli(*command, "--fresh").code == 0
    assert server.names[calls:].count("Plan") == 4


def test_trajectories_are_reflected_upon_without_new_trials(cli: Cli, served: Serve, tmp_path: Path) -> None:
    server = served(Reader())
    log = runs(
        tmp_path / "runs.jsonl",
        trial_of("Ulm", 1, ["wrong_unit"]),
        trial_of("Ulm", 2, []),
        trial_of("Bern", 1, ["wrong_unit"]),
    )
    out = cli("synthesize", log, "--out", "r.jsonl", "--json")
    assert (out.code, out.json["status"]) == (0, "synthesized"), out.err
    assert set(server.names) == {
        *("TrialReflection", "TaxonomyGrowth", "StepLabels", "TypeReflection", "MergedReflection")
    }
    assert [record.trajectory_id for record in read_rows(Path("r.jsonl"), ReflectionRecord)] == [
        "Ulm-1",
        "Bern-1",
    ]


def test_what_the_agent_was_given_is_shown_to_the_lower_levels(
    cli: Cli, served: Serve, tmp_path: Path
) -> None:
    server = served(Reader())
    run = trial_of("Ulm", 1, ["wrong_unit"])
    told = run.trajectory.model_copy(update={"world": "A scale that shows pounds."})
    out = cli(
        "synthesize",
        runs(tmp_path / "runs.jsonl", run.model_copy(update={"trajectory": told})),
        *("--out", "r.jsonl", "--json"),
    )
    assert out.code == 0, out.err
    seen = {name for name, seen in zip(server.names, server.requests, strict=True) if "A scale" in seen.text}
    assert seen == {"TrialReflection", "TaxonomyGrowth", "StepLabels"}


def test_settings_go_to_the_synthesis_or_to_the_agent(cli: Cli, served: Serve, tmp_path: Path) -> None:
    server = served(Counter())
    sets = ("--set", "steps_per_call=1", "--set", "prospective_reflection=false", "--trials", "1")
    out = cli("synthesize", tasks(tmp_path / "t.jsonl", "cats"), "--out", "r.jsonl", "--json", *sets)
    assert out.code == 0, out.err
    assert "PlanDiagnosis" not in server.names
    assert server.names.count("StepLabels") == 2
    assert out.json["outcomes"] == {"failure": 1}
    assert "needs 2" in out.json["problems"]["reflect_error single_count"]


@pytest.fixture
def shared_errors(tmp_path: Path) -> str:
    """Runs of two tasks that fail in the same way."""
    failed = [trial_of(name, 1, ["wrong_unit"]) for name in ("Ulm", "Bern")]
    return runs(tmp_path / "runs.jsonl", *failed)


def test_error_types_become_planning_errors(cli: Cli, served: Serve, shared_errors: str) -> None:
    server = served(Reader())
    command = ("synthesize", shared_errors, "--into", "planning-errors", "--out", "errors.yaml")
    out = cli(*command)
    assert out.code == 0, out.err
    assert "set FORETHOUGHT_PLANNING_ERRORS_FILE to it" in out.err
    (error,) = load_planning_errors(Path("errors.yaml"))
    assert (error.name, len(error.failures)) == ("wrong_unit", 2)
    assert {pattern.provenance.trajectory for pattern in error.failures if pattern.provenance} == {
        *("Ulm-1", "Bern-1")
    }
    assert error.successes[0].text
    questions = json.loads(Path("errors.provenance.json").read_text())["questions"]
    assert len(questions) == 2, "evaluations can keep clear of the tasks"
    calls = len(server.names)
    again = cli(*command[:2], "--into", "guidance", "--out", "guidance.txt")
    assert (again.code, len(server.names)) == (0, calls), "another use of a synthesis asks no model"
    assert Path("guidance.txt").read_text().strip() == error.successes[0].text
    assert '--guidance "$(cat guidance.txt)"' in again.err


def test_guidance_is_shown_to_a_whole_run(cli: Cli, served: Serve) -> None:
    server = served(Counter())
    assert cli("run", "Count the cats.", "--guidance", REMEDY, "--guidance", "Say which cats.").code == 0
    plan = next(seen for seen in server.requests if seen.reply_name == "Plan")
    assert REMEDY in plan.text
    assert "Say which cats." in plan.text


def test_error_types_become_advice_that_waits_for_a_person(
    cli: Cli, served: Serve, shared_errors: str
) -> None:
    served(Reader())
    out = cli("synthesize", shared_errors, "--into", "experience")
    assert out.code == 0, out.err
    (advice,) = cli("experience", "list", "--json").json
    assert (advice["name"], advice["state"]) == ("wrong_unit", "quarantined")
    assert f"forethought experience confirm {advice['id']}" in out.err
    assert cli("experience", "confirm", advice["id"]).code == 0
    assert cli("synthesize", shared_errors, "--into", "experience").code == 0
    (same,) = cli("experience", "list", "--json").json
    assert same["state"] == "adopted", "what a person confirmed stays"


def test_a_file_is_asked_for_where_one_is_written(cli: Cli, shared_errors: str) -> None:
    out = cli("synthesize", shared_errors)
    assert (out.code, out.err.strip()) == (
        2, "forethought: --into records writes a file: name it with --out FILE",
    )  # fmt: skip
