"""`forethought distill`: from files of trajectories to a file of planning errors and its provenance."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from forethought.app.distill import display as distill_display
from forethought.app.distill import distilling
from forethought.app.distill.display import ask_review, edit_in_editor
from forethought.knowledge.error_file import yaml_text
from forethought.knowledge.planning_errors import load_planning_errors, parse_planning_errors
from forethought.knowledge.provenance import used_fingerprints
from forethought.trajectories.questions import fingerprint
from forethought.trajectories.types import Loaded
from tests.forethought.app.conftest import Cli
from tests.support.distilling import Distiller, named, question, runs
from tests.support.model_server import Answer, Fault, ModelServer, SeenRequest

Start = Callable[..., ModelServer]


def save(path: Path, loaded: list[Loaded]) -> Path:
    """A file of trajectories."""
    path.write_text("\n".join(item.model_dump_json() for item in loaded) + "\n")
    return path


@pytest.fixture
def model(model_server: Start, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModelServer]:
    """Start a scripted model that the environment points at."""

    def start(policy: Callable[[SeenRequest], Answer] | None = None) -> ModelServer:
        server = model_server(policy or Distiller())
        monkeypatch.setenv("FORETHOUGHT_BASE_URL", server.url)
        monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
        monkeypatch.setenv("FORETHOUGHT_REQUEST_RETRIES", "0")
        return server

    return start


@pytest.fixture
def log(tmp_path: Path) -> str:
    """Runs of two tasks with mixed outcomes and of one without."""
    loaded = [*runs("Ulm", "ffs"), *runs("Bern", "fs"), *runs("Bonn", "ss")]
    return str(save(tmp_path / "runs.jsonl", loaded))


def test_errors_are_written_with_where_they_come_from(
    cli: Cli, model: Callable[..., ModelServer], log: str
) -> None:
    model()
    out = cli("distill", log, "--source", "our own runs", "--json")
    assert (out.code, out.json["status"]) == (0, "distilled"), out.err
    assert out.json["written"]["added"] == ["first_hit"]
    counted = out.json["counts"]
    assert (counted["trajectories"], counted["mixed"], counted["entries"], counted["final"]) == (7, 2, 2, 1)
    (error,) = load_planning_errors(Path("planning_errors.yaml"))
    assert error.untouched
    assert error.generated is not None
    assert error.generated.model == "openai:scripted"
    first = error.failures[0].provenance
    assert first is not None
    assert (first.source, first.file, first.trajectory) == ("our own runs", "runs.jsonl", "Ulm-1")
    record = json.loads(Path("planning_errors.provenance.json").read_text())
    assert {item["sha256"] for item in record["questions"]} == {
        fingerprint(question("Ulm")),
        fingerprint(question("Bern")),
    }
    assert used_fingerprints(Path("planning_errors.yaml")) == {item["sha256"] for item in record["questions"]}
    (entry,) = record["distillations"]
    assert entry["model"] == "openai:scripted"
    assert {item["id"] for item in entry["trajectories"]} == {"Ulm-1", "Ulm-2", "Ulm-3", "Bern-1", "Bern-2"}
    assert entry["errors"]["first_hit"]["findings"][1]["trajectories"] == ["Bern-1", "Bern-2"]


def test_the_same_command_again_calls_nobody_and_changes_nothing(
    cli: Cli, model: Callable[..., ModelServer], log: str
) -> None:
    server = model()
    assert cli("distill", log).code == 0
    calls, before = len(server.requests), Path("planning_errors.yaml").read_bytes()
    assert cli("distill", log).code == 0
    assert len(server.requests) == calls
    assert Path("planning_errors.yaml").read_bytes() == before
    assert len(json.loads(Path("planning_errors.provenance.json").read_text())["distillations"]) == 1
    assert cli("distill", log, "--fresh").code == 0
    assert len(server.requests) == 2 * calls


def test_a_distillation_that_failed_midway_goes_on_where_it_was(
    cli: Cli, model: Callable[..., ModelServer], log: str
) -> None:
    down = {"now": True}

    def write(seen: SeenRequest) -> Answer | None:
        return Fault("503") if down["now"] else None

    server = model(Distiller(write=write))
    out = cli("distill", log)
    assert out.code == 1
    assert "the same command goes on with it" in out.err
    assert not Path("planning_errors.yaml").exists()
    down["now"] = False
    assert cli("distill", log).code == 0
    assert server.names == ["ComparativeDiagnosis"] * 2 + ["Aggregation"] * 2 + ["PatternSet"] * 2


def test_a_person_s_edit_is_kept_and_what_they_took_out_stays_out(
    cli: Cli, model: Callable[..., ModelServer], log: str
) -> None:
    model(Distiller(types={"Ulm": ("one", "two")}))
    assert cli("distill", log).code == 0
    path = Path("planning_errors.yaml")
    text = path.read_text().replace("It settled early", "It settled too early", 1)
    start = text.index("  - name: two")
    path.write_text(text[:start])
    out = cli("distill", log, "--json")
    assert out.json["written"]["kept"] == ["one"]
    assert out.json["written"]["removed"] == ["two"]
    assert "It settled too early" in path.read_text()
    assert "name: two" not in path.read_text()


def test_a_file_with_comments_is_left_alone_and_a_new_one_names_the_same_questions(
    cli: Cli, model: Callable[..., ModelServer], log: str
) -> None:
    model()
    assert cli("distill", log).code == 0
    path, new = Path("planning_errors.yaml"), Path("planning_errors.new.yaml")
    path.write_text(path.read_text() + "# mine\n")
    out = cli("distill", log, "--fresh", "--set", "max_runs=2", "--json")
    assert (out.code, out.json["out"]) == (0, str(new)), out.err
    assert path.read_text().endswith("# mine\n")
    assert used_fingerprints(new) == used_fingerprints(path) != frozenset()


def test_a_broken_file_is_left_alone_and_nothing_is_lost(
    cli: Cli, model: Callable[..., ModelServer], log: str
) -> None:
    server = model()
    Path("planning_errors.yaml").write_text("version: 1\nerrors: {")
    out = cli("distill", log)
    assert out.code == 2
    assert "planning_errors.yaml:2" in out.err
    assert "what was distilled is kept" in out.err
    calls = len(server.requests)
    Path("planning_errors.yaml").unlink()
    assert cli("distill", log).code == 0
    assert len(server.requests) == calls


def test_no_mixed_outcomes_is_said_with_what_was_seen(
    cli: Cli, model: Callable[..., ModelServer], tmp_path: Path
) -> None:
    server = model()
    out = cli("distill", str(save(tmp_path / "x.jsonl", [*runs("Ulm", "ff"), *runs("Bern", "ss")])))
    assert out.code == 1
    assert "4 trajectories of 2 tasks were read, 1 with successes only, 1 with failures only" in out.err
    assert server.requests == []


def test_tasks_of_an_evaluation_are_refused(
    cli: Cli, model: Callable[..., ModelServer], log: str, tmp_path: Path
) -> None:
    model()
    (tmp_path / "eval.jsonl").write_text(json.dumps({"question": question("Ulm").upper()}) + "\n")
    out = cli("distill", log, "--exclude", str(tmp_path / "eval.jsonl"), "--json")
    assert out.json["excluded"] == [question("Ulm")]
    assert [task["task"] for task in out.json["tasks"].values()] == [question("Bern")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.jsonl",), "nowhere.jsonl: cannot be read"),
        (("runs.jsonl", "--exclude", "nowhere.txt"), "nowhere.txt: cannot be read"),
        (("runs.jsonl", "--set", "max_run=3"), "did you mean max_runs"),
        (("runs.jsonl", "--set", "max_runs=1"), "--set max_runs"),
        (("runs.jsonl", "--set", "max_runs"), "write KEY=VALUE"),
    ],
)
def test_wrong_use_is_one_line(
    cli: Cli, model: Callable[..., ModelServer], log: str, arguments: tuple[str, ...], said: str
) -> None:
    model()
    out = cli("distill", *arguments)
    assert out.code == 2
    assert said in out.err
    assert out.err.count("\n") == 1


def test_a_folder_of_a_collection_is_read(
    cli: Cli, model: Callable[..., ModelServer], tmp_path: Path
) -> None:
    model()
    folder = tmp_path / "c"
    (folder / "trajectories").mkdir(parents=True)
    (folder / "collection.json").write_text("{}")
    for loaded in runs("Ulm", "ffs"):
        (folder / "trajectories" / f"{loaded.trajectory.id}.json").write_text(loaded.model_dump_json())
    out = cli("distill", str(folder), "--json")
    assert out.json["counts"]["mixed"] == 1


def test_a_review_without_a_terminal_waits_and_writes_nothing(
    cli: Cli, model: Callable[..., ModelServer], log: str
) -> None:
    model()
    out = cli("distill", log, "--review", "--json")
    assert (out.code, out.json["status"]) == (4, "interrupted")
    assert out.json["interrupts"][0]["error"]["name"] == "first_hit"
    assert "run the same command in a terminal" in out.err
    assert not Path("planning_errors.yaml").exists()


class Terminal:
    """A standard stream that is a terminal."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def isatty(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def test_a_review_in_the_terminal_is_carried_out_and_what_was_dropped_leaves_the_file(
    cli: Cli, model: Callable[..., ModelServer], log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = model(Distiller(types={"Ulm": ("one", "two", "three"), "Bern": ("one",)}))
    assert cli("distill", log).code == 0
    calls, said = len(server.requests), iter(["what?", "k", "m one", "d"])
    real = distilling.ask_review
    monkeypatch.setattr(distilling, "ask_review", lambda c, q: real(c, q, read=lambda prompt: next(said)))
    monkeypatch.setattr("sys.stdin", Terminal(None))
    monkeypatch.setattr(distilling.sys, "stdout", Terminal(distilling.sys.stdout))
    out = cli("distill", log, "--review")
    assert out.code == 0, out.err
    assert len(server.requests) == calls
    (error,) = load_planning_errors(Path("planning_errors.yaml"))
    assert (error.name, error.untouched) == ("one", False)
    assert "look up the bridges of Ulm" in out.out, "the evidence is shown"


QUESTION: dict[str, Any] = {
    "error": {
        "name": "one",
        "description": "d [bold]",
        "failures": [{"text": "early"}, {"text": "late"}],
        "successes": [{"text": "z"}],
    },
    "findings": [],
    "others": ["two", "three"],
    "problem": "",
}


def replies(*lines: str) -> Callable[[str], str]:
    """Reads these lines."""
    given: Iterator[str] = iter(lines)
    return lambda prompt: next(given)


@pytest.mark.parametrize(
    ("lines", "reply"),
    [
        (("keep",), {"decision": "keep"}),
        (("D",), {"decision": "drop"}),
        (("merge", "m nobody", "m two"), {"decision": "merge", "value": "two"}),
        (("", "?", "k"), {"decision": "keep"}),
    ],
)
def test_what_a_person_types(lines: tuple[str, ...], reply: Any) -> None:
    assert ask_review(Console(quiet=True), QUESTION, read=replies(*lines)) == reply


def test_an_edit_that_is_not_made_asks_again() -> None:
    edits: Iterator[Any] = iter(["nothing was changed", {"name": "uno"}])
    found = ask_review(Console(quiet=True), QUESTION, read=replies("e", "e"), edit=lambda error: next(edits))
    assert found == {"decision": "edit", "value": {"name": "uno"}}


def test_the_editor_is_given_yaml_and_its_result_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    changes: Iterator[Callable[[str], str]] = iter(
        [
            lambda text: text,
            lambda text: text.replace("name: one", "name: uno").replace("early", "better: early", 1),
            lambda text: text.replace("name: one", "name: Not A Name"),
            lambda text: "nonsense",
        ]
    )
    monkeypatch.setattr(distill_display, "_through_editor", lambda text: next(changes)(text))
    assert edit_in_editor(QUESTION["error"]) == "nothing was changed"
    found = edit_in_editor(QUESTION["error"])
    assert isinstance(found, dict)
    assert (found["name"], found["failures"]) == ("uno", ["better: early", "late"])
    assert edit_in_editor(QUESTION["error"]) == "name: String should match pattern " + repr(
        "^[a-z][a-z0-9]*(_[a-z0-9]+)*$"
    )
    assert edit_in_editor(QUESTION["error"]) == "keep the form: one item that begins with '- name:'"


def test_an_editor_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "/no/such/editor")
    assert "the editor could not be used" in str(edit_in_editor(QUESTION["error"]))


def test_the_model_sees_one_task_at_a_time(cli: Cli, model: Callable[..., ModelServer], log: str) -> None:
    server = model()
    cli("distill", log)
    asked = [seen for seen in server.requests if seen.reply_name == "ComparativeDiagnosis"]
    assert sorted(map(named, asked)) == ["Bern", "Ulm"]
    assert all("Bern" not in seen.text for seen in asked if named(seen) == "Ulm")


def test_files_of_the_same_name_are_told_apart_without_this_machine_s_paths(
    cli: Cli, model: Callable[..., ModelServer], tmp_path: Path
) -> None:
    model()
    for folder, outcomes in (("base", "ff"), ("later", "s")):
        (tmp_path / folder).mkdir()
        loaded = runs("Ulm", outcomes)
        if folder == "later":
            trajectory = loaded[0].trajectory.model_copy(update={"id": "Ulm-9", "answer": "Old Bridge"})
            loaded = [loaded[0].model_copy(update={"trajectory": trajectory})]
        save(tmp_path / folder / "log.jsonl", loaded)
    cli("distill", str(tmp_path / "base" / "log.jsonl"), str(tmp_path / "later" / "log.jsonl"))
    text = Path("planning_errors.yaml").read_text() + Path("planning_errors.provenance.json").read_text()
    assert "file: base/log.jsonl" in text
    assert "file: later/log.jsonl" in text
    assert str(tmp_path) not in text


def test_dropping_everything_leaves_a_file_of_others_without_the_dropped(
    cli: Cli, model: Callable[..., ModelServer], log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model()
    path = Path("planning_errors.yaml")
    own = "version: 1\nerrors:\n  - name: own\n    description: d\n    failures: [a, b]\n    successes: [c]\n"
    path.write_text(yaml_text(parse_planning_errors(own, path)))
    assert cli("distill", log).code == 0
    assert [error.name for error in load_planning_errors(path)] == ["own", "first_hit"]
    monkeypatch.setattr(distilling, "ask_review", lambda console, question: {"decision": "drop"})
    monkeypatch.setattr("sys.stdin", Terminal(None))
    monkeypatch.setattr(distilling.sys, "stdout", Terminal(distilling.sys.stdout))
    out = cli("distill", log, "--review")
    assert "every error was dropped" in out.err
    assert [error.name for error in load_planning_errors(path)] == ["own"]


def test_an_interruption_is_told_once(
    cli: Cli, model: Callable[..., ModelServer], log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: Any) -> None:
        raise KeyboardInterrupt

    model()
    monkeypatch.setattr(distilling, "_until_done", interrupted)
    out = cli("distill", log)
    assert (out.code, out.err) == (130, "forethought: interrupted; the same command goes on with it\n")
