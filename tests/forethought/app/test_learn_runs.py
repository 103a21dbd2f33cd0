"""`forethought learn` of recorded runs and of tasks: advice, planning errors, records to train on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forethought.knowledge.planning_errors import load_planning_errors
from forethought.knowledge.provenance import used_fingerprints
from forethought.training.dataset import read_rows
from forethought.training.records import ReflectionRecord
from forethought.trajectories.questions import fingerprint
from forethought.trajectories.types import Loaded
from tests.forethought.app.conftest import Cli, Serve
from tests.support.counting import REMEDY, Counter
from tests.support.distilling import Distiller, named, question, runs
from tests.support.model_server import Answer, Fault, SeenRequest
from tests.support.synthesizing import Reader, trial_of

ERRORS = Path("planning_errors.yaml")
RECORD = Path("planning_errors.provenance.json")


def save(path: Path, loaded: list[Loaded]) -> str:
    """A file of trajectories."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(item.model_dump_json() for item in loaded) + "\n")
    return str(path)


@pytest.fixture
def log(tmp_path: Path) -> str:
    """Runs of two tasks with mixed outcomes and of one without."""
    return save(tmp_path / "runs.jsonl", [*runs("Ulm", "ffs"), *runs("Bern", "fs"), *runs("Bonn", "ss")])


def test_errors_are_written_with_where_they_come_from(cli: Cli, served: Serve, log: str) -> None:
    server = served(Distiller())
    out = cli("learn", log, "--out", "planning_errors.yaml", "--json")
    assert (out.code, out.json["status"]) == (0, "distilled"), out.err
    assert out.json["out"] == str(ERRORS)
    counted = out.json["counts"]
    assert (counted["trajectories"], counted["mixed"], counted["entries"], counted["final"]) == (7, 2, 2, 1)
    (error,) = load_planning_errors(ERRORS)
    assert error.name == "first_hit"
    assert error.generated is not None
    assert error.generated.model == "openai:scripted"
    first = error.failures[0].provenance
    assert first is not None
    assert (first.file, first.trajectory) == ("runs.jsonl", "Ulm-1")
    record = json.loads(RECORD.read_text())
    assert used_fingerprints(ERRORS) == {fingerprint(question("Ulm")), fingerprint(question("Bern"))}
    (entry,) = record["distillations"]
    assert entry["model"] == "openai:scripted"
    assert set(entry["trajectories"]) == {"Ulm-1", "Ulm-2", "Ulm-3", "Bern-1", "Bern-2"}
    asked = [seen for seen in server.requests if seen.reply_name == "ComparativeDiagnosis"]
    assert sorted(map(named, asked)) == ["Bern", "Ulm"], "one task at a time"
    assert all("Bern" not in seen.text for seen in asked if named(seen) == "Ulm")


def test_what_costs_more_than_a_few_calls_is_asked_about_first(
    cli: Cli, served: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = served(Distiller())
    towns = ("Ulm", "Bern", "Bonn", "Rome", "Graz", "Lyon")
    log = save(tmp_path / "many.jsonl", [run for town in towns for run in runs(town, "fs")])
    waits = cli("learn", log, "--out", "planning_errors.yaml")
    assert (waits.code, server.requests) == (4, []), waits.err
    assert "about 14 calls" in waits.out
    assert "repeat the command with --yes" in waits.err
    assert cli("learn", log, "--out", "planning_errors.yaml", "--yes", "--json").json["counts"]["mixed"] == 6
    monkeypatch.setattr("forethought.app.runner.Runner.confirm", lambda *_: True)
    agreed = cli("learn", log, "--out", "planning_errors.yaml", "--fresh")
    assert (agreed.out + agreed.err).count("estimate: about 14 calls") == 1


def test_the_same_command_continues_after_an_outage_and_repeats_nothing(
    cli: Cli, served: Serve, log: str
) -> None:
    down = {"now": True}

    def write(seen: SeenRequest) -> Answer | None:
        return Fault("503") if down["now"] else None

    server = served(Distiller(write=write))
    out = cli("learn", log, "--out", "planning_errors.yaml")
    assert out.code == 1
    assert "to continue, repeat the command" in out.err
    assert not ERRORS.exists()
    down["now"] = False
    assert cli("learn", log, "--out", "planning_errors.yaml").code == 0
    assert server.names == ["ComparativeDiagnosis"] * 2 + ["Aggregation"] * 2 + ["PatternSet"] * 2
    calls, before = len(server.requests), ERRORS.read_bytes()
    assert cli("learn", log, "--out", "planning_errors.yaml").code == 0
    assert len(server.requests) == calls
    assert ERRORS.read_bytes() == before
    assert len(json.loads(RECORD.read_text())["distillations"]) == 1
    assert cli("learn", log, "--out", "planning_errors.yaml", "--fresh").code == 0
    assert server.names[calls:] == ["ComparativeDiagnosis"] * 2 + ["Aggregation"] * 2 + ["PatternSet"]


def test_a_file_that_a_person_changed_is_left_alone_and_a_new_one_names_the_same_questions(
    cli: Cli, served: Serve, log: str
) -> None:
    served(Distiller())
    assert cli("learn", log, "--out", "planning_errors.yaml").code == 0
    new = Path("planning_errors.new.yaml")
    ERRORS.write_text(ERRORS.read_text() + "# mine\n")
    for _ in range(2):
        out = cli("learn", log, "--out", "planning_errors.yaml", "--fresh", "--set", "max_runs=2", "--json")
        assert (out.code, out.json["out"]) == (0, str(new)), out.err
    assert ERRORS.read_text().endswith("# mine\n")
    assert used_fingerprints(new) == used_fingerprints(ERRORS) != frozenset()


def test_files_of_the_same_name_are_told_apart_without_this_machine_s_paths(
    cli: Cli, served: Serve, tmp_path: Path
) -> None:
    served(Distiller())
    (run,) = runs("Ulm", "s")
    same_id = run.model_copy(
        update={"trajectory": run.trajectory.model_copy(update={"answer": "New Bridge"})}
    )
    base = save(tmp_path / "base" / "log.jsonl", runs("Ulm", "ff"))
    cli("learn", base, save(tmp_path / "later" / "log.jsonl", [same_id]), "--out", "planning_errors.yaml")
    text = ERRORS.read_text() + RECORD.read_text()
    assert "file: base/log.jsonl" in text
    assert "file: later/log.jsonl" in text
    assert "trajectory: Ulm-1~2" in text
    assert str(tmp_path) not in text


def test_tasks_of_an_evaluation_are_refused(cli: Cli, served: Serve, log: str, tmp_path: Path) -> None:
    served(Distiller())
    (tmp_path / "eval.jsonl").write_text(json.dumps({"question": question("Bern").upper()}) + "\n")
    out = cli("learn", log, "--exclude", "eval.jsonl", "--json")
    assert out.code == 0, out.err
    assert [task["task"] for task in out.json["tasks"].values()] == [question("Ulm")]


def test_errors_become_advice_that_waits_for_a_person(cli: Cli, served: Serve, log: str) -> None:
    served(Distiller())
    out = cli("learn", log)
    assert out.code == 0, out.err
    (advice,) = cli("experience", "list", "--json").json
    assert (advice["name"], advice["state"], advice["source"]) == ("first_hit", "quarantined", "distill")
    assert f"forethought experience confirm {advice['id']}" in out.err
    assert cli("experience", "confirm", advice["id"]).code == 0
    assert cli("learn", log, "--fresh").code == 0
    (same,) = cli("experience", "list", "--json").json
    assert same["state"] == "adopted", "what a person confirmed stays"


def tasks(path: Path, *names: str, **fields: Any) -> str:
    """A tasks file."""
    given = fields or {"expected": "42"}
    path.write_text("".join(json.dumps({"id": n, "task": f"Count the {n}.", **given}) + "\n" for n in names))
    return str(path)


def test_tasks_are_tried_and_reflected_upon_and_the_records_can_be_exported(
    cli: Cli, served: Serve, tmp_path: Path
) -> None:
    server = served(Counter())
    command = ("learn", tasks(tmp_path / "t.jsonl", "cats", "dogs"), "--records", "r.jsonl", "--json")
    out = cli(*command)
    assert (out.code, out.json["status"]) == (0, "synthesized"), out.err
    assert (out.json["counts"]["failure"], out.json["counts"]["success"]) == (2, 2)
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
    trials = [trial_of("Ulm", 1, ["wrong_unit"]), trial_of("Ulm", 2, []), trial_of("Bern", 1, ["wrong_unit"])]
    log = save(tmp_path / "runs.jsonl", trials)
    out = cli("learn", log, "--method", "synthesize", "--records", "r.jsonl", "--json")
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
        "learn",
        save(tmp_path / "runs.jsonl", [run.model_copy(update={"trajectory": told})]),
        *("--method", "synthesize", "--records", "r.jsonl", "--json"),
    )
    assert out.code == 0, out.err
    seen = {name for name, seen in zip(server.names, server.requests, strict=True) if "A scale" in seen.text}
    assert seen == {"TrialReflection", "TaxonomyGrowth", "StepLabels"}


def test_settings_go_to_the_synthesis_or_to_the_agent(cli: Cli, served: Serve, tmp_path: Path) -> None:
    server = served(Counter())
    sets = ("--set", "steps_per_call=1", "--set", "prospective_reflection=false", "--set", "trials=1")
    out = cli("learn", tasks(tmp_path / "t.jsonl", "cats"), "--records", "r.jsonl", "--json", *sets)
    assert out.code == 0, out.err
    assert "PlanDiagnosis" not in server.names
    assert server.names.count("StepLabels") == 2
    assert out.json["counts"]["failure"] == 1
    assert "needs 2" in out.json["problems"]["reflect_error single_count"]


def test_guidance_is_shown_to_a_whole_run(cli: Cli, served: Serve) -> None:
    server = served(Counter())
    assert cli("run", "Count the cats.", "--guidance", REMEDY, "--guidance", "Say which cats.").code == 0
    plan = next(seen for seen in server.requests if seen.reply_name == "Plan")
    assert REMEDY in plan.text
    assert "Say which cats." in plan.text


def test_an_error_type_of_two_tasks_becomes_advice(cli: Cli, served: Serve, tmp_path: Path) -> None:
    served(Reader())
    failed = [trial_of(name, 1, ["wrong_unit"]) for name in ("Ulm", "Bern")]
    out = cli("learn", save(tmp_path / "runs.jsonl", failed), "--json")
    assert out.code == 0, out.err
    (advice,) = out.json["advice"]
    assert (advice["name"], advice["source"], advice["level"]) == ("wrong_unit", "synthesize", "macro")
