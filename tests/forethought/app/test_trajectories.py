"""trajectories check, convert and schema, as a person calls them."""

from __future__ import annotations

import json
from pathlib import Path

from jsonschema import Draft202012Validator

from forethought.trajectories.read import read_trajectories
from forethought.trajectories.types import Loaded
from tests.forethought.app.conftest import Cli
from tests.forethought.trajectories import chat_examples, examples, span_examples


def put(folder: Path) -> Path:
    """A folder of runs in three formats, and a file that is none."""
    for name, value in {
        "tau.json": examples.TAU,
        "trace.json": span_examples.LANGSMITH,
        "repo.traj": chat_examples.SWE_AGENT,
        "config.json": {"temperature": 0},
    }.items():
        (folder / name).write_text(json.dumps(value))
    (folder / "log.txt").write_text(examples.REACT)
    return folder


def test_check_says_what_was_understood_of_each_file(cli: Cli, tmp_path: Path) -> None:
    done = cli("trajectories", "check", str(put(tmp_path)))
    assert done.code == 0, done.err
    assert "log.txt: react_log; 3 runs, 5 steps, 3 tasks (0 with both outcomes)" in done.out
    assert "outcomes: 1 success, 2 failure; halted: 1; runs with answer 2" in done.out
    assert "tau.json: tau_bench; 1 run, 2 steps, 1 task" in done.out
    assert "config.json: skipped: unknown trajectory format" in done.out
    *_, total, _ = done.out.splitlines()
    assert total.startswith("in total: langsmith, react_log, swe_agent, tau_bench; 6 runs,"), total
    files = cli("trajectories", "check", str(tmp_path), "--json").json
    told = next(each["told"] for each in files if each["file"].endswith("trace.json"))
    assert told == {"task_id": 1, "instructions": 1, "tools": 1, "answer": 1}


def test_what_is_in_no_known_format_is_told_with_what_was_looked_for(cli: Cli, tmp_path: Path) -> None:
    put(tmp_path)
    done = cli("trajectories", "check", str(tmp_path / "config.json"))
    assert done.code == 2
    for words in ("an object with temperature", "langsmith (runs with run_type)", "tau_bench (traj)"):
        assert words in done.out
    assert "no runs were read" in done.err


def test_what_convert_writes_reads_back_and_follows_the_schema(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    put(folder)
    out = tmp_path / "runs.jsonl"
    done = cli("trajectories", "convert", str(folder), "--out", str(out))
    assert done.code == 0, done.err
    assert f"6 runs written to {out}" in done.out
    validator = Draft202012Validator(json.loads(cli("trajectories", "schema").out))
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    for row in rows:
        validator.validate(row)
        assert Loaded.model_validate(row)
    before = {loaded.trajectory.id: loaded for loaded in read_trajectories(folder)}
    assert {loaded.trajectory.id: loaded for loaded in read_trajectories(out)} == before


def test_a_log_that_was_cut_is_refused_by_check(cli: Cli, tmp_path: Path) -> None:
    whole = examples.REACT_WITH_RULES
    (tmp_path / "log.txt").write_text(whole[: whole.index("Question: Which pass")])
    done = cli("trajectories", "check", str(tmp_path))
    assert done.code == 2
    assert "trial 1: read 0 incorrect, not 1 as the log's summary says" in done.out


def test_each_path_that_gives_nothing_is_named_once_with_the_reason(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("hello")
    said = cli("trajectories", "check", str(tmp_path)).out
    assert f"{tmp_path}: not read: this folder has no files that end in .json, .jsonl," in said
    said = cli("trajectories", "check", str(tmp_path / "notes.md")).out
    assert (said.count("notes.md"), "(text); convert it" in said) == (1, True), said
