"""Every command on a database of each kind, found by its address; with a key, and no password shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forethought.app.runner import claimed_threads, open_runner
from forethought.settings import Settings
from forethought.storage import address_of
from tests.forethought.app.conftest import Cli, Serve
from tests.forethought.app.debug_script import DebugScript, failed_run
from tests.forethought.app.scripted import Script, own_subtask
from tests.forethought.app.test_bad_input import is_one_clear_line
from tests.support.postgres import PostgresServer

Scripted = Callable[..., Any]
KEY = "00112233445566778899aabbccddeeff"
TASK = "What is 40 + 2?"


def test_a_thread_lives_in_either_database(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, database: str
) -> None:
    monkeypatch.setenv("FORETHOUGHT_DB", database)
    monkeypatch.setenv("FORETHOUGHT_ENCRYPTION_KEY", KEY)
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
    assert "works, encrypted" in checks["database"]["detail"], checks["database"]
    stored = b"".join(path.read_bytes() for path in (tmp_path / "data" / "files").iterdir())
    assert stored
    assert b"private note" not in stored
    assert not (tmp_path / "data" / "threads.sqlite").exists()


def test_a_thread_that_is_being_run_is_refused(cli: Cli, scripted: Scripted) -> None:
    scripted()
    assert cli("run", TASK, "--thread", "a").code == 0
    with open_runner(as_json=True) as holder:
        holder.open(claimed_threads(address_of(Settings()), None, "a"))
        assert cli("threads", "--json").json[0]["status"] == "running"
        for command in (
            ["resume", "a"],
            ["run", TASK, "--thread", "a"],
            ["fork", "a", "--before", "1"],
            ["debug", "a"],
        ):
            done = cli(*command)
            assert (done.code, is_one_clear_line(done)) == (1, True), done
            assert "thread a is running in another process" in done.err
    assert cli("fork", "a", "--before", "1").code == 0


def test_experience_and_debuggings_live_in_postgres_too(
    cli: Cli, served: Serve, monkeypatch: pytest.MonkeyPatch, postgres: str
) -> None:
    monkeypatch.setenv("FORETHOUGHT_DB", postgres)
    failed_run(cli, served(DebugScript()))
    assert cli("debug", "t1").code == 0
    assert cli("show", "debug:t1:1", "--json").json["thread_id"] == "debug:t1:1"
    assert cli("debug", "t1").code == 0
    listed = [item["thread_id"] for item in cli("threads", "--all", "--json").json]
    assert listed == ["debug:t1:2", "debug:t1:1", "t1"]

    served(Script())
    assert cli("run", "Add up the travel claims", "--json").json.get("experience") is None
    Path("guidance.txt").write_text("Travel claims add up in euros.")
    assert cli("experience", "import", "guidance.txt").code == 0
    (kept,) = cli("experience", "list", "--json").json
    shown = cli("run", "Add up the travel claims", "--json").json["experience"]
    assert [one["id"] for one in shown["shown"]] == [kept["id"]]
    (kept,) = cli("experience", "list", "--json").json
    assert (kept["shown"], kept["helped"]) == (1, 1)
    assert cli("experience", "drop", kept["id"]).code == 0


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


def test_a_user_who_may_make_no_tables_is_told(
    cli: Cli, scripted: Scripted, postgres_server: PostgresServer, postgres: str
) -> None:
    scripted()
    assert cli("run", TASK, "--thread", "t1", "--db", postgres).code == 0
    name = postgres.partition("?")[0].rpartition("/")[2]
    postgres_server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO locked", name)
    reader = postgres_server.address(name, "locked", "right-password")
    assert [item["thread_id"] for item in cli("threads", "--db", reader, "--json").json] == ["t1"]
    refused = cli("run", TASK, "--thread", "p9", "--db", reader)
    assert refused.code == 1
    (line,) = refused.err.splitlines()
    assert line.startswith("forethought: the database postgresql://locked@")
    assert "permission denied" in line


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
    assert "locked@" in said[-1].err
    for each in said:
        assert "-password" not in each.out + each.err + caplog.text
    kept = postgres_server.execute("SELECT c::text, c.metadata::text FROM checkpoints AS c", name)
    assert kept
    assert "-password" not in repr(kept)


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


def test_a_server_that_goes_away_leaves_the_thread_resumable(
    cli: Cli, scripted: Scripted, postgres_server: PostgresServer, postgres: str
) -> None:
    """As a restart of the server does: every connection ends."""
    script, _ = scripted()
    name = postgres.partition("?")[0].rpartition("/")[2]

    def restart(seen: Any) -> None:
        if "Compare both" in own_subtask(seen):
            script.fault = lambda seen: None
            postgres_server.execute(
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
            )

    script.fault = restart
    broken = cli("run", TASK, "--thread", "t1", "--db", postgres)
    assert broken.code == 1
    assert "the connection that locked it was lost" in broken.err
    assert "Traceback" not in broken.err
    done = cli("resume", "t1", "--db", postgres, "--json")
    assert (done.code, done.json["answer"]) == (0, "42"), done.err
