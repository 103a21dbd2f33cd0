"""`forethought distill`: from files of trajectories to a file of planning errors and its provenance."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from forethought.knowledge.planning_errors import load_planning_errors
from forethought.knowledge.provenance import used_fingerprints
from forethought.trajectories.questions import fingerprint
from forethought.trajectories.types import Loaded
from tests.forethought.app.conftest import Cli, Serve
from tests.support.distilling import Distiller, named, question, runs
from tests.support.model_server import Answer, Fault, SeenRequest

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


@pytest.fixture
def reviewer(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A person at a terminal who types these lines."""

    def start(*lines: str) -> None:
        typed = iter(lines)
        monkeypatch.setattr("builtins.input", lambda prompt: next(typed))
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)

    return start


def test_errors_are_written_with_where_they_come_from(cli: Cli, served: Serve, log: str) -> None:
    server = served(Distiller())
    out = cli("distill", log, "--source", "our own runs", "--json")
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
    assert (first.source, first.file, first.trajectory) == ("our own runs", "runs.jsonl", "Ulm-1")
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
    waits = cli("distill", log)
    assert (waits.code, server.requests) == (4, []), waits.err
    assert "about 14 calls" in waits.out
    assert "repeat the command with --yes" in waits.err
    assert cli("distill", log, "--yes", "--json").json["counts"]["mixed"] == 6
    monkeypatch.setattr("forethought.app.runner.Runner.confirm", lambda *_: True)
    agreed = cli("distill", log, "--fresh")
    assert (agreed.out + agreed.err).count("estimate: about 14 calls") == 1


def test_the_same_command_continues_after_an_outage_and_repeats_nothing(
    cli: Cli, served: Serve, log: str
) -> None:
    down = {"now": True}

    def write(seen: SeenRequest) -> Answer | None:
        return Fault("503") if down["now"] else None

    server = served(Distiller(write=write))
    out = cli("distill", log)
    assert out.code == 1
    assert "to continue, repeat the command" in out.err
    assert not ERRORS.exists()
    down["now"] = False
    assert cli("distill", log).code == 0
    assert server.names == ["ComparativeDiagnosis"] * 2 + ["Aggregation"] * 2 + ["PatternSet"] * 2
    calls, before = len(server.requests), ERRORS.read_bytes()
    assert cli("distill", log).code == 0
    assert len(server.requests) == calls
    assert ERRORS.read_bytes() == before
    assert len(json.loads(RECORD.read_text())["distillations"]) == 1
    assert cli("distill", log, "--fresh").code == 0
    assert server.names[calls:] == ["ComparativeDiagnosis"] * 2 + ["Aggregation"] * 2 + ["PatternSet"]


def test_a_file_that_a_person_changed_is_left_alone_and_a_new_one_names_the_same_questions(
    cli: Cli, served: Serve, log: str
) -> None:
    served(Distiller())
    assert cli("distill", log).code == 0
    new = Path("planning_errors.new.yaml")
    ERRORS.write_text(ERRORS.read_text() + "# mine\n")
    for _ in range(2):
        out = cli("distill", log, "--fresh", "--set", "max_runs=2", "--json")
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
    cli("distill", base, save(tmp_path / "later" / "log.jsonl", [same_id]))
    text = ERRORS.read_text() + RECORD.read_text()
    assert "file: base/log.jsonl" in text
    assert "file: later/log.jsonl" in text
    assert "trajectory: Ulm-1~2" in text
    assert str(tmp_path) not in text


def test_a_review_without_a_terminal_waits_and_writes_nothing(
    cli: Cli, served: Serve, log: str, tmp_path: Path
) -> None:
    served(Distiller())
    (tmp_path / "eval.jsonl").write_text(json.dumps({"question": question("Bern").upper()}) + "\n")
    out = cli("distill", log, "--review", "--exclude", "eval.jsonl", "--json")
    assert (out.code, out.json["status"]) == (4, "interrupted")
    assert out.json["excluded"] == [question("Bern")]
    assert out.json["interrupts"][0]["error"]["name"] == "first_hit"
    assert "repeat the command in a terminal" in out.err
    assert not ERRORS.exists()


def test_a_review_in_the_terminal_is_carried_out_and_the_file_written_anew(
    cli: Cli, served: Serve, log: str, reviewer: Callable[..., None]
) -> None:
    server = served(Distiller(types={"Ulm": ("one", "two", "three"), "Bern": ("one",)}))
    assert cli("distill", log).code == 0
    calls = len(server.requests)
    reviewer("what?", "k", "merge nobody", "m one", "D")
    out = cli("distill", log, "--review")
    assert out.code == 0, out.err
    assert len(server.requests) == calls
    (error,) = load_planning_errors(ERRORS)
    assert error.name == "one"
    assert "look up the bridges of Ulm" in out.out, "the evidence is shown"
