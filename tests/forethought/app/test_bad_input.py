"""Bad input: one clear line that says what to do, exit code 1 or 2, no traceback, nothing lost."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from forethought.app.errors import explain
from tests.forethought.app.conftest import Cli, Outcome
from tests.forethought.app.debug_script import trajectory
from tests.support.model_server import Fault

Scripted = Callable[..., Any]
BAD = [
    ("run ' '", 2, "name a TASK"),
    ("run x --file nowhere.txt", 2, "nowhere.txt: no such file"),
    ("run x --file large.bin", 2, "FORETHOUGHT_MAX_FILE_MB"),
    ("run x --model nobody:m", 2, "unknown provider"),
    ("run x --model 'm 1'", 2, "write provider:name"),
    ("run x --model openai:gpt-4.1", 2, "set OPENAI_API_KEY"),
    ("run x --set max_stps=3", 2, "did you mean max_steps"),
    ("run x --set zzz=3", 2, "known: model, "),
    ("run x --set files=a.txt", 2, "name files with --file"),
    ("run x --effort paper", 2, "write --set effort=VALUE"),
    ("run x --set max_steps", 2, "write KEY=VALUE"),
    ("run x --set max_steps=0", 2, "--set max_steps is '0': must be greater than or equal to 1"),
    ("run x --set forced_replans=6,x", 2, "--set forced_replans is 'x'"),
    ("run x --set foresight=false", 2, "--set foresight is 'false': must be"),
    ("run x --thread ../up", 2, "thread id"),
    ("run x --base-url ftp://host", 2, "must look like https://host/v1"),
    ("run x --base-url http://[::1", 2, "must look like https://host/v1"),
    ("run x --db mysql://u:pass@h/d", 2, "mysql://...: give a path, sqlite:///path"),
    ("run x --db postgresql://u:pa/ss@h/d", 2, "%40 for @, %2F for /"),
    ("threads --db postgresql://u:pass@127.0.0.1:1/d", 1, "u@127.0.0.1:1/d: connection"),
    ("run x --db folder/large.bin/t.sqlite", 1, "folder/large.bin"),
    ("run x --db notes.txt", 1, "file is not a database"),
    ("run x --db /dev/null/t.sqlite", 1, "choose another place with --db"),
    ("threads --db other.sqlite", 1, "other.sqlite: it belongs to an older release or another program"),
    ("run x --record a --replay b", 2, "use either --record or --replay"),
    ("run x --replay none.jsonl", 2, "cannot read the recording none.jsonl"),
    ("run x --replay notes.txt", 2, "notes.txt, line 1: not a recorded call"),
    ("run x --base-url http://h/v1 --record no/a.jsonl", 2, "cannot write the recording no/a.jsonl"),
    ("run x --base-url http://h/v1 --tools no_such_module", 2, "no_such_module not found"),
    ("run --demo --model openai:m", 2, "--demo has its own task"),
    ("run other --demo", 2, "--demo has its own task"),
    ("resume unknown", 2, "no thread unknown"),
    ("show unknown", 2, "no thread unknown"),
    ("fork unknown --before 1", 2, "no thread unknown"),
    ("fork unknown --before 0", 2, "--before"),
    ("run Which invoices", 2, "put the TASK in quotes (see `forethought run --help`)"),
    ("run --file", 2, "requires an argument (see `forethought --help`)"),
    ("nonsense", 2, "No such command 'nonsense'"),
]


def is_one_clear_line(done: Outcome) -> bool:
    """Whether stderr is one line of ours, and stdout says nothing."""
    return (
        done.out == "" and done.err.startswith("forethought: ") and done.err.count("\n") == 1
        and "internal error" not in done.err and "Traceback" not in done.err
    )  # fmt: skip


def test_each_bad_input_is_told_in_one_line(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORETHOUGHT_MAX_FILE_MB", "0.001")
    (tmp_path / "folder").mkdir()
    for name in ("large.bin", "folder/large.bin"):
        (tmp_path / name).write_bytes(b"x" * 2000)
    (tmp_path / "notes.txt").write_text("only some notes, as long as a page\n" * 20)
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection:
        connection.execute("CREATE TABLE checkpoints (name TEXT)")
    for line, code, message in BAD:
        done = cli(*shlex.split(line))
        assert (done.code, is_one_clear_line(done)) == (code, True), (line, done)
        assert message in done.err, (line, done.err)
        assert "pa/ss" not in done.err
        assert "pass@" not in done.err
    assert (tmp_path / "notes.txt").read_text().startswith("only some notes"), "a foreign file stays as it is"


OFFLINE = [
    ("debug", "name either a THREAD or a PATH of recorded runs"),
    ("debug t1 --trajectory run.json", "either a THREAD or a PATH of recorded runs"),
    ("debug 't 9'", "thread id 't 9'"),
    ("debug --trajectory gone.json", "gone.json: cannot be read"),
    ("debug --trajectory broken.json", "broken.json: broken JSON"),
    ("debug --trajectory other.json", "unknown trajectory format"),
    ("debug --trajectory empty.json", "empty.json: broken JSON"),
    ("debug t1 --rerun=magic", "--rerun"),
    ("debug t1 --pick a", "need recorded runs"),
    ("debug logs/run --list", "no file or folder logs/run"),
    ("debug gone.json --pick a", "no file or folder gone.json"),
    ("debug t1 --environment a:b", "need recorded runs"),
    ("learn gone.jsonl", "no file or folder gone.jsonl"),
    ("learn run.json --exclude gone.txt", "gone.txt: cannot be read"),
    ("learn run.json --set max_run=3", "did you mean max_rounds"),
    ("learn run.json --set max_steps=0", "--set max_steps"),
    ("learn run.json --set max_steps", "write KEY=VALUE"),
    ("learn tasks.jsonl --success luck", "'luck' is not one of 'exact', 'model'"),
    ("learn tasks.jsonl --set step_per_call=1", "unknown setting 'step_per_call'"),
    ("learn unjudged.jsonl", "expected"),
    ("learn tasks.jsonl --records tasks.jsonl", "--records tasks.jsonl is a folder or an input"),
    ("learn tasks.jsonl --records folder", "--records folder is a folder"),
    ("learn nobody", "no threads"),
]


def test_each_bad_input_of_an_offline_command_is_told_before_anything_is_asked_or_kept(
    cli: Cli, scripted: Scripted, tmp_path: Path
) -> None:
    _, server = scripted()
    (tmp_path / "folder").mkdir()
    files = {
        "run.json": json.dumps(trajectory()),
        "broken.json": '{"id": ',
        "other.json": '{"colour": "red"}',
        "empty.json": "",
        "tasks.jsonl": '{"id": "a", "task": "Count.", "expected": "42"}\n',
        "unjudged.jsonl": '{"id": "a", "task": "Count."}\n',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for line, message in OFFLINE:
        done = cli(*shlex.split(line))
        assert (done.code, is_one_clear_line(done)) == (2, True), (line, done)
        assert message in done.err, (line, done.err)
    assert server.requests == []
    assert {name: (tmp_path / name).read_text() for name in files} == files
    assert not [path for path in tmp_path.rglob("*") if path.suffix in {".sqlite", ".yaml"}]


def test_a_missing_key_is_told_before_anything_is_kept(cli: Cli, tmp_path: Path) -> None:
    assert cli("run", "x", "--thread", "t1").code == 2
    assert cli("threads", "--json").json == []


def test_an_env_file_that_is_no_text_is_told(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"A=\xff\xfe\n")
    done = cli("threads")
    assert (done.code, is_one_clear_line(done), "not UTF-8" in done.err) == (2, True, True)
    assert cli("--help").code == 0, "help helps even then"


def test_the_env_file_is_loaded_and_the_environment_wins(
    cli: Cli, scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, server = scripted()
    monkeypatch.delenv("FORETHOUGHT_BASE_URL")
    monkeypatch.setitem(os.environ, "FORETHOUGHT_MODEL", "openai:from-environment")
    lines = f'\ufeff# mine\nexport FORETHOUGHT_BASE_URL="{server.url}"\nFORETHOUGHT_MODEL=openai:from-file\n'
    (tmp_path / ".env").write_text(lines)
    try:
        assert cli("run", "What is 40 + 2?").code == 0
    finally:
        os.environ.pop("FORETHOUGHT_BASE_URL", None)
    assert server.requests[0].body["model"] == "from-environment"


VARIABLES = [
    ("FORETHOUGHT_MAX_FILE_MB", "big", "FORETHOUGHT_MAX_FILE_MB is 'big'"),
    ("FORETHOUGHT_BASE_URL", "host:80", "FORETHOUGHT_BASE_URL"),
    ("FORETHOUGHT_MODEL", "no model", "FORETHOUGHT_MODEL is 'no model': write provider:name"),
    ("FORETHOUGHT_DB", "mysql://h", "give a path, sqlite:///path"),
    ("FORETHOUGHT_ALLOWED_MODELS", "openai:a, openai:b", "not allowed here; allowed: openai:a, openai:b"),
    ("FORETHOUGHT_TOOLS", "no_such_module", "no_such_module not found"),
]


def test_a_wrong_variable_is_named(cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted()
    for name, value, said in VARIABLES:
        with monkeypatch.context() as patched:
            patched.setenv(name, value)
            done = cli("run", "x")
        assert (done.code, is_one_clear_line(done)) == (2, True), (name, done)
        assert said in done.err, (name, done.err)


def test_a_key_that_cannot_be_one_is_named_and_not_repeated(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, key, said in [
        ("FORETHOUGHT_API_KEY", "sk-priv\u00e4te", "cannot be a key"),
        (
            "FORETHOUGHT_ENCRYPTION_KEY",
            "priv-and-32-characters-long-lo!!",
            "must be 16, 24 or 32 random bytes",
        ),
    ]:
        with monkeypatch.context() as patched:
            patched.setenv(name, key)
            done = cli("run", "x")
        assert (done.code, is_one_clear_line(done)) == (2, True), done
        assert f"{name}: {said}" in done.err
        assert "priv" not in done.err


def test_a_wait_for_the_model_is_shown(cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    script, _ = scripted()
    monkeypatch.setenv("FORETHOUGHT_REQUEST_RETRIES", "1")
    script.fault = lambda seen: Fault("503", retry_after="1.1", message="busy") if seen.n == 1 else None
    done = cli("run", "x")
    assert done.code == 0
    assert "model openai:scripted: Error code: 503 - busy; retry 1 of 1 in 1.1s" in done.out


def test_a_full_disk_during_a_run_keeps_what_was_done(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from forethought.storage.group_commit import GroupCommitSaver

    scripted()
    put, left = GroupCommitSaver.aput, [6]

    async def full(self: Any, *given: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            error = sqlite3.OperationalError("database or disk is full")
            error.add_note("During task with name 'planner'")  # as LangGraph does
            raise error
        return await put(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(GroupCommitSaver, "aput", full)
        done = cli("run", "What is 40 + 2?", "--thread", "t1", "--json", "--db", str(tmp_path / "kept.db"))
    assert done.code == 1
    assert done.json["status"] == "failed"
    where = f"the thread database {tmp_path / 'kept.db'}: database or disk is full: free some space"
    assert where in done.json["error"]
    assert "Traceback" not in done.err
    again = cli("resume", "t1", "--json", "--db", str(tmp_path / "kept.db"))
    assert again.code == 0, again.err
    assert again.json["answer"] == "42"


def test_an_unknown_exception_is_called_ours_and_debug_shows_it(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    scripted()

    def broken(*given: Any) -> None:
        raise RuntimeError("a mistake\x1b[31m of ours\nwith lines")

    monkeypatch.setattr("forethought.app.run.report", broken)
    done = cli("run", "x")
    assert done.code == 1
    assert "internal error: RuntimeError: a mistake of ours with lines; please report" in done.err
    assert caplog.records == []
    assert cli("run", "x", "--debug").code == 1
    assert [record for record in caplog.records if record.exc_info]
    monkeypatch.setenv("FORETHOUGHT_DEBUG", "1")
    cli("run", "x")
    assert len([record for record in caplog.records if record.exc_info]) == 2


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (sqlite3.OperationalError("database is locked"), "another program is using it"),
        (sqlite3.OperationalError("attempt to write a readonly database"), "choose another place with --db"),
        (sqlite3.DatabaseError("database disk image is malformed"), "the file is damaged"),
        (OSError(28, "No space left on device", "/data/x"), "/data/x: No space left on device"),
    ],
)
def test_an_error_of_the_machine_has_its_line(error: Exception, said: str) -> None:
    failure = explain(error)
    assert (said in failure.line, failure.code, failure.internal) == (True, 1, False)
