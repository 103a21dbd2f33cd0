"""Every command on a database of each kind, found by its address; with a key, and no password shown."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from forethought.settings import Settings
from forethought.state.plan_patches import PATCH
from forethought.storage.encryption import thread_serializer
from tests.forethought.app.conftest import Cli
from tests.forethought.app.debug_script import DebugScript, failed_run
from tests.forethought.app.test_bad_input import is_one_clear_line
from tests.forethought.app.test_lessons import Learning
from tests.forethought.storage.test_locks import HOLD
from tests.support.model_server import Fault, ModelServer
from tests.support.postgres import PostgresServer
from tests.support.processes import Start

Scripted = Callable[..., Any]
KEY = "00112233445566778899aabbccddeeff"
TASK = "What is 40 + 2?"


@pytest.mark.parametrize("key", ["", KEY], ids=["plain", "sealed"])
def test_a_thread_lives_in_either_database(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, database: str, key: str
) -> None:
    monkeypatch.setenv("FORETHOUGHT_DB", database)
    monkeypatch.setenv("FORETHOUGHT_ENCRYPTION_KEY", key)
    scripted(question="Which colour?")
    (tmp_path / "note.txt").write_text("a private note on the colour")
    asked = cli("run", TASK, "--thread", "t1", "--file", "note.txt", "--json")
    assert (asked.code, asked.json["status"]) == (4, "interrupted"), asked.err
    done = cli("resume", "t1", "--reply", "red", "--json")
    assert (done.code, done.json["answer"]) == (0, "42"), done.err
    forked = cli("fork", "t1", "--before", "3", "--guidance", "Look twice", "--json")
    assert forked.code == 0, forked.err
    assert [item["status"] for item in cli("threads", "--json").json] == ["answered"]
    shown = cli("show", "t1", "--steps", "--json").json
    assert len(shown["checkpoints"]) > 5
    assert len(cli("show", "t1", "--branches", "--json").json["branches"]) == 2
    assert cli("show", "t1", "--diff", "1").code == 0
    checks = {check["name"]: check for check in cli("doctor", "--json").json["checks"]}
    assert ("can be written, encrypted" in checks["database"]["detail"]) is bool(key), checks["database"]
    stored = b"".join(path.read_bytes() for path in (tmp_path / "data" / "files").iterdir())
    assert (b"private note" in stored) is not bool(key)
    assert not (tmp_path / "data" / "threads.sqlite").exists()


def test_a_thread_that_another_process_runs_is_refused(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, database: str, python: Start
) -> None:
    monkeypatch.setenv("FORETHOUGHT_DB", database)
    scripted()
    assert cli("run", TASK, "--thread", "a").code == 0
    holder = python(HOLD, database)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    assert cli("threads", "--json").json[0]["status"] == "running"
    for command in (
        ["resume", "a"],
        ["run", TASK, "--thread", "a"],
        ["fork", "a", "--before", "1"],
        ["debug", "a"],
    ):
        done = cli(*command)
        assert (done.code, is_one_clear_line(done)) == (1, True), done
        assert "thread a is being run by another process" in done.err
    holder.communicate("")
    assert cli("fork", "a", "--before", "1").code == 0


def test_lessons_and_debuggings_live_in_postgres_too(
    cli: Cli, model_server: Callable[..., ModelServer], monkeypatch: pytest.MonkeyPatch, postgres: str
) -> None:
    monkeypatch.setenv("FORETHOUGHT_DB", postgres)
    server = model_server(DebugScript())
    monkeypatch.setenv("FORETHOUGHT_BASE_URL", server.url)
    monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
    monkeypatch.setenv("FORETHOUGHT_REQUEST_RETRIES", "0")
    failed_run(cli, server)
    assert cli("debug", "t1").code == 0
    assert cli("show", "debug:t1:1", "--json").json["thread_id"] == "debug:t1:1"
    assert cli("debug", "t1").code == 0
    listed = [item["thread_id"] for item in cli("threads", "--all", "--json").json]
    assert listed == ["debug:t1:2", "debug:t1:1", "t1"]

    monkeypatch.setenv("FORETHOUGHT_BASE_URL", model_server(Learning()).url)
    assert cli("lessons", "list", "--json").code == 2, "there are none yet"
    ended = cli("run", "Add up the travel claims", "--set", "lessons=true", "--set", "max_rounds=2")
    assert ended.code == 3, ended.err
    (kept,) = cli("lessons", "list", "--json").json
    assert cli("lessons", "confirm", kept["id"]).code == 0
    assert cli("lessons", "drop", kept["id"]).code == 0
    assert cli("lessons", "list", "--json").json == []


def test_an_empty_database_is_as_a_missing_file(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, postgres: str
) -> None:
    monkeypatch.setenv("FORETHOUGHT_DB", postgres)
    assert cli("threads", "--json").json == []
    assert cli("threads").out.startswith("no threads yet in postgresql://")
    pruned = cli("threads", "--prune", "--yes")
    assert (pruned.code, pruned.out.startswith("nothing to prune in postgresql://")) == (0, True)
    gone = cli("threads", "--db", postgres.replace("?", "?options=-csearch_path%3Dnowhere&"))
    assert gone.code == 0
    missing = cli("doctor", "--db", postgres.replace("?", "?options=-csearch_path%3Dnowhere&"))
    assert "CREATE SCHEMA" in missing.out


def test_who_may_write_need_not_make_tables(
    cli: Cli, scripted: Scripted, postgres_server: PostgresServer, postgres: str
) -> None:
    scripted()
    assert cli("run", TASK, "--thread", "t1", "--db", postgres).code == 0
    name = postgres.partition("?")[0].rpartition("/")[2]
    postgres_server.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO locked", name)
    writer = postgres_server.address(name, "locked", "right-password")
    assert cli("doctor", "--db", writer, "--json").code == 0
    assert [item["thread_id"] for item in cli("threads", "--db", writer, "--json").json] == ["t1"]


def test_a_user_who_may_only_read_is_promised_nothing(
    cli: Cli, scripted: Scripted, postgres_server: PostgresServer, postgres: str
) -> None:
    scripted()
    assert cli("run", TASK, "--thread", "t1", "--db", postgres).code == 0
    name = postgres.partition("?")[0].rpartition("/")[2]
    postgres_server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO locked", name)
    reader = postgres_server.address(name, "locked", "right-password")
    refused = cli("run", TASK, "--thread", "p9", "--db", reader)
    assert refused.code == 1
    failure, hint = refused.err.splitlines()
    shown = reader.replace("right-password", "***")
    assert failure.startswith(f"forethought: the database {shown}: permission denied")
    assert hint == "forethought: nothing of it is kept; when that is put right, run it again"


def test_no_password_is_shown_or_kept(
    cli: Cli,
    scripted: Scripted,
    postgres_server: PostgresServer,
    postgres: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    scripted()
    name = postgres.partition("?")[0].rpartition("/")[2]
    postgres_server.execute("GRANT ALL ON SCHEMA public TO locked", name)
    good = postgres_server.address(name, "locked", "right-password")
    bad = postgres_server.address(name, "locked", "wrong-password")
    said = [
        cli("run", TASK, "--thread", "t1", "--db", good, "--json"),
        cli("show", "t1", "--db", good),
        cli("threads", "--db", good),
        cli("resume", "t1", "--db", good),
        cli("threads", "--prune", "--db", good),
        cli("doctor", "--db", good),
        cli("doctor", "--db", bad),
        cli("run", TASK, "--db", bad, "--debug"),
    ]
    assert [each.code for each in said] == [0, 0, 0, 2, 0, 0, 1, 1]
    assert "locked:***@" in said[-1].err
    for each in said:
        assert "-password" not in each.out + each.err + caplog.text
    kept = postgres_server.execute("SELECT c::text, c.metadata::text FROM checkpoints AS c", name)
    assert kept
    assert "-password" not in repr(kept)


@pytest.mark.parametrize(
    "key", ["short", "00" * 15, "!!" * 16, "not base64 and 32 characters lo!"], ids=["a", "b", "c", "d"]
)
def test_a_key_that_is_none_is_refused_and_not_repeated(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("FORETHOUGHT_ENCRYPTION_KEY", key)
    done = cli("threads")
    assert (done.code, is_one_clear_line(done)) == (2, True)
    assert "FORETHOUGHT_ENCRYPTION_KEY: must be 16, 24 or 32 random bytes" in done.err
    assert key not in done.err


@pytest.mark.parametrize("text", [KEY, "ABEiM0RVZneImaq7zN3u/w==", "ABEiM0RVZneImaq7zN3u_w==", f" {KEY}\n"])
def test_a_key_is_hexadecimal_or_base64(text: str) -> None:
    assert Settings(encryption_key=text).key == bytes.fromhex(KEY)  # type: ignore[arg-type]


def test_without_its_key_an_encrypted_thread_is_told_in_one_line(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted()
    monkeypatch.setenv("FORETHOUGHT_ENCRYPTION_KEY", KEY)
    assert cli("run", TASK, "--thread", "t1").code == 0
    for key in ("", KEY[::-1]):
        monkeypatch.setenv("FORETHOUGHT_ENCRYPTION_KEY", key)
        for command in (["threads"], ["show", "t1"], ["resume", "t1"], ["run", TASK]):
            done = cli(*command)
            assert (done.code, is_one_clear_line(done)) == (1, True), done
            assert "FORETHOUGHT_ENCRYPTION_KEY" in done.err


def edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the head of a thread by hand."""
    serializer = thread_serializer()
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT checkpoint_id, type, checkpoint FROM checkpoints ORDER BY checkpoint_id DESC"
        name, form, content = connection.execute(query).fetchone()
        checkpoint = serializer.loads_typed((form, content))
        change(checkpoint["channel_values"])
        connection.execute(
            "UPDATE checkpoints SET checkpoint = ? WHERE checkpoint_id = ?",
            (serializer.dumps_typed(checkpoint)[1], name),
        )
        connection.commit()


FORGED: list[tuple[str, Any, str]] = [
    ("plan", "none", "channel plan is not what a run writes there (all of it: input should be"),
    ("plan", {"subtasks": [{"id": 7}]}, "(subtasks.0.id: input should be a valid string)"),
    ("plan", {"subtasks": "all"}, "channel plan"),
    ("progress", {"n": "many"}, "channel progress is not what a run writes there (n: input should be"),
    ("progress", [1], "channel progress"),
    ("results", {"a": {"n": 1}}, "channel results"),
    ("messages", ["hello"], "channel messages is not what a run writes there (it holds what is no message)"),
    ("messages", "hello", "channel messages"),
    ("usage", {"planner": {"calls": "3"}}, "channel usage"),
    ("answer", {"text": "42"}, "channel answer"),
    ("status", "splendid", "channel status"),
    ("short_term", {"a": {"rejected": 1}}, "channel short_term"),
    ("trajectory", "steps", "channel trajectory"),
    ("trajectory", 7, "channel trajectory"),
    ("task", 5, "channel task"),
]


def test_a_thread_changed_by_hand_is_refused_with_the_channel(
    cli: Cli, scripted: Scripted, tmp_path: Path
) -> None:
    _, server = scripted(answer_score=3)
    assert cli("run", TASK, "--thread", "t1", "--set", "max_rounds=1").code == 3
    commands = [
        ["show", "t1"], ["resume", "t1"], ["show", "t1", "--branches"], ["run", "more", "--thread", "t1"],
        ["fork", "t1", "--before", "1"], ["debug", "t1"],
    ]  # fmt: skip
    path = tmp_path / "data" / "threads.sqlite"
    whole = path.read_bytes()
    calls = len(server.requests)
    for channel, value, said in FORGED:
        path.write_bytes(whole)
        edit(path, lambda values, channel=channel, value=value: values.update({channel: value}))
        for command in commands if channel == "plan" and value == "none" else commands[:1]:
            done = cli(*command)
            assert (done.code, is_one_clear_line(done)) == (1, True), (channel, value, command, done)
            assert "thread t1 was changed by hand, or is damaged" in done.err
            assert said in done.err, (channel, value, command, done.err)
        listed = cli("threads", "--json")
        assert (listed.code, listed.json[0]["thread_id"]) == (0, "t1"), (channel, value, listed)
    assert len(server.requests) == calls, "nothing is run"


def test_checkpoints_that_name_each_other_as_parents_end_no_command_in_a_circle(
    cli: Cli, scripted: Scripted, tmp_path: Path
) -> None:
    scripted(answer_score=3)
    assert cli("run", TASK, "--thread", "t1", "--set", "max_rounds=1").code == 3
    with closing(sqlite3.connect(tmp_path / "data" / "threads.sqlite")) as connection:
        query = "SELECT checkpoint_id FROM checkpoints ORDER BY checkpoint_id DESC LIMIT 2"
        (head,), (before,) = connection.execute(query).fetchall()
        change = "UPDATE checkpoints SET parent_checkpoint_id = ? WHERE checkpoint_id = ?"
        connection.execute(change, (head, before))
        connection.commit()
    for command in (["show", "t1"], ["show", "t1", "--branches"], ["fork", "t1", "--before", "1"]):
        done = cli(*command)
        if command[0] == "fork":
            assert (done.code, is_one_clear_line(done)) == (2, True), done
            assert "name each other as what came before" in done.err


def test_a_thread_of_a_release_that_kept_the_plan_in_each_checkpoint_is_gone_on_with(
    cli: Cli, scripted: Scripted, tmp_path: Path
) -> None:
    scripted(question="Which colour?")
    waiting = cli("run", TASK, "--thread", "t1", "--json")
    assert waiting.code == 4
    path = tmp_path / "data" / "threads.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM writes WHERE channel = 'plan'")
        connection.commit()
    assert cli("show", "t1", "--json").json["plan"] is None
    edit(path, lambda values: values.update(plan=waiting.json["plan"]))
    assert cli("show", "t1", "--json").json["plan"] == waiting.json["plan"]
    done = cli("resume", "t1", "--reply", "red", "--json")
    assert done.code == 0, done.err
    subtasks = [{**item, "status": "finished"} for item in waiting.json["plan"]["subtasks"]]
    assert done.json["plan"] == {**waiting.json["plan"], "subtasks": subtasks}


def test_a_thread_whose_plan_is_gone_is_told_in_one_line(
    cli: Cli, scripted: Scripted, tmp_path: Path
) -> None:
    scripted(fault=lambda seen: Fault("status", status=401) if seen.reply_name == "ToolChoice" else None)
    assert cli("run", TASK, "--thread", "t1").code == 2
    with closing(sqlite3.connect(tmp_path / "data" / "threads.sqlite")) as connection:
        connection.execute("DELETE FROM writes WHERE channel = 'plan'")
        connection.commit()
    done = cli("resume", "t1")
    assert (done.code, "internal error" in done.err) == (1, False), done
    assert "the plan in force has none of that name" in done.err


def test_writes_forged_for_a_task_are_refused(cli: Cli, scripted: Scripted, tmp_path: Path) -> None:
    scripted(question="Which colour?")
    assert cli("run", TASK, "--thread", "t1").code == 4
    path = tmp_path / "data" / "threads.sqlite"
    serializer = thread_serializer()
    with closing(sqlite3.connect(path)) as connection:
        # Of the sibling that has finished, while the other one waits for the person.
        query = "SELECT MAX(checkpoint_id), task_id FROM writes WHERE channel = 'trajectory'"
        name, task = connection.execute(query).fetchone()
        for channel, value in (
            ("trajectory", [7]),
            ("trajectory", 7),
            ("results", "none"),
            ("plan", {"subtasks": [{"id": 7}]}),
            ("plan", {PATCH: {"version": 1, "status": {"multiply": "splendid"}}}),
            ("usage", {"a": 1}),
            ("status", "splendid"),
            ("answer", 7),
        ):
            connection.execute(
                "INSERT OR REPLACE INTO writes VALUES ('t1', '', ?, ?, '', 90, ?, ?, ?)",
                (name, task, channel, *serializer.dumps_typed(value)),
            )
            connection.commit()
            done = cli("resume", "t1", "--reply", "red")
            assert (done.code, is_one_clear_line(done)) == (1, True), (channel, value, done)
            assert f"channel {channel}" in done.err or "its state cannot be put together" in done.err


@pytest.mark.parametrize("cut", [0.3, 0.9])
def test_a_truncated_file_is_told_in_one_line(
    cli: Cli, scripted: Scripted, tmp_path: Path, cut: float
) -> None:
    scripted()
    assert cli("run", TASK, "--thread", "t1").code == 0
    path = tmp_path / "data" / "threads.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * cut)])
    for command in (["show", "t1"], ["threads"], ["resume", "t1"]):
        done = cli(*command)
        assert (done.code, is_one_clear_line(done)) == (1, True), done
        assert "the file is damaged" in done.err, done


def test_a_server_that_goes_away_leaves_the_thread_resumable(
    cli: Cli, scripted: Scripted, postgres_server: PostgresServer, postgres: str
) -> None:
    """As a restart of the server does: every connection ends."""
    script, _ = scripted()
    name = postgres.partition("?")[0].rpartition("/")[2]

    def restart(seen: Any) -> None:
        if "Compare both" in seen.last and seen.reply_name == "ToolChoice":
            script.fault = lambda seen: None
            postgres_server.execute(
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
            )

    script.fault = restart
    broken = cli("run", TASK, "--thread", "t1", "--db", postgres)
    assert broken.code == 1
    assert "the connection that held it for this process was lost" in broken.err
    assert "Traceback" not in broken.err
    done = cli("resume", "t1", "--db", postgres, "--json")
    assert (done.code, done.json["answer"]) == (0, "42"), done.err
