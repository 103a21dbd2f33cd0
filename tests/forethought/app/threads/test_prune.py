"""`forethought threads --prune`: what goes and what stays."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from forethought.app.threads import prune
from forethought.settings import Settings
from forethought.storage import address_of, open_threads
from forethought.storage.retention import YOUNG_S
from forethought.tools.files import FileStore
from tests.forethought.app.conftest import Cli
from tests.forethought.app.debug_script import DebugScript, failed_run
from tests.forethought.app.test_bad_input import is_one_clear_line
from tests.forethought.storage.conftest import run
from tests.support.model_server import ModelServer

Scripted = Callable[..., Any]
NOW = ("--prune", "--older-than", "0m", "--yes", "--json")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, database: str) -> str:
    """A database of each kind, as the commands find it."""
    monkeypatch.setenv("FORETHOUGHT_DB", database)
    return database


def names(cli: Cli) -> list[str]:
    return sorted(item["thread_id"] for item in cli("threads", "--all", "--json").json)


def begun(*threads: str, status: str = "answered") -> None:
    """Threads that have come to `status`."""

    async def begin() -> None:
        settings = Settings()
        async with open_threads(address_of(settings), settings.key) as saver:
            for thread in threads:
                await run(saver, thread, given={"status": status})

    asyncio.run(begin())


def test_finished_threads_go_with_what_only_they_use(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kept: str
) -> None:
    monkeypatch.setenv("FORETHOUGHT_ENCRYPTION_KEY", "00112233445566778899aabbccddeeff")
    begun("t1", "t2", "t3")
    begun("t4", status="running")
    waits = cli("threads", "--prune", "--older-than", "0m")
    assert (waits.code, "3 threads and 0 debuggings" in waits.out) == (4, True), waits
    assert "nothing was deleted; go on with the same command and --yes" in waits.err
    assert names(cli) == ["t1", "t2", "t3", "t4"]

    done = cli("threads", *NOW)
    assert (done.code, done.json["status"]) == (0, "pruned"), done.err
    assert done.json["threads"] == ["t3", "t2", "t1"]
    assert names(cli) == ["t4"]
    if "://" not in kept:
        assert done.json["bytes_before"] > done.json["bytes_after"] == Path(kept).stat().st_size
    assert cli("show", "t1").code == 2
    assert cli("show", "t4", "--json").json["answer"] == "echo of a task"
    assert "nothing to prune" in cli("threads", "--prune").out
    assert cli("threads", *NOW, "--status", "stopped").json["threads"] == ["t4"]


def test_files_go_that_were_not_used_for_as_long(cli: Cli) -> None:
    begun("t1", "t2", "t3")
    store = FileStore.of(Settings())
    old, read, again, new = (store.put(text.encode()) for text in ("old", "read", "again", "new"))
    for name in (old, read, again):
        os.utime(store.path(name), (1, 1))
    store.get(read)
    store.put(b"again")
    assert cli("threads", *NOW, "--keep", "2", "--keep-files").json["files"] == []
    assert cli("threads", *NOW, "--keep", "1").json["files"] == [old]
    lately = time.time() - 2 * YOUNG_S
    os.utime(store.path(new), (lately, lately))
    assert cli("threads", *NOW).json["files"] == [new]
    assert {path.name for path in store.root.iterdir()} == {read, again}


def test_debuggings_go_with_their_thread(
    cli: Cli, model_server: Callable[..., ModelServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = model_server(DebugScript())
    monkeypatch.setenv("FORETHOUGHT_BASE_URL", server.url)
    monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
    failed_run(cli, server)
    assert cli("debug", "t1").code == 0
    assert cli("threads", *NOW, "--keep", "1").json["threads"] == []
    done = cli("threads", *NOW).json
    assert (done["threads"], done["debuggings"]) == (["t1"], ["debug:t1:1"])
    assert names(cli) == []


def test_the_newest_stay_and_unfinished_ones_go_only_where_they_are_named(cli: Cli) -> None:
    begun("t1", "t2", "t3")
    begun("t4", status="failed")
    assert cli("threads", *NOW, "--keep", "2").json["threads"] == ["t2", "t1"]
    assert cli("threads", *NOW, "--status", "failed").json["threads"] == ["t4"]
    assert names(cli) == ["t3"]


def test_a_thread_that_is_run_stays(cli: Cli) -> None:
    begun("t1", "t2")

    async def held() -> tuple[list[str], list[str]]:
        settings = Settings()
        choice = prune.rule_of("0m", None, 0, False)
        async with open_threads(address_of(settings)) as saver, saver.claim("t1"):
            chosen = await prune._choose(settings, choice)
            late = await prune._delete(settings, choice, ["t1"])
            return chosen, late["skipped"]

    assert asyncio.run(held()) == (["t2"], ["t1"])
    assert names(cli) == ["t1", "t2"]


def test_how_old_is_old() -> None:
    def may_go(age: timedelta, status: str) -> bool:
        time = (datetime.now(UTC) - age).isoformat()
        default = prune.rule_of(None, None, 0, False)
        return default.allows({"thread_id": "t1", "time": time, "status": status})

    for age, status, goes in [
        (timedelta(days=31), "answered", True), (timedelta(days=29), "answered", False),
        (timedelta(days=31), "best_effort", True), (timedelta(days=31), "failed", False),
        (timedelta(days=31), "running", False), (timedelta(days=31), "damaged", False),
    ]:  # fmt: skip
        assert may_go(age, status) is goes, (age, status)
    for text, limit in (("90m", timedelta(minutes=90)), ("12h", timedelta(hours=12)), ("2w", timedelta(14))):
        assert prune.rule_of(text, None, 0, False).older_than == limit


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--prune", "--older-than", "soon"], "--older-than soon: write a number and m, h, d or w"),
        (["--prune", "--older-than", "-1d"], "--older-than"),
        (["--prune", "--status", "answered,done"], "--status 'done': choose of answered,"),
        (["--prune", "--status", "running"], "--status 'running'"),
        (["--older-than", "3d"], "go with --prune"),
        (["--yes"], "go with --prune"),
    ],
)
def test_wrong_flags_are_told_in_one_line(cli: Cli, flags: list[str], said: str) -> None:
    done = cli("threads", *flags)
    assert (done.code, is_one_clear_line(done), said in done.err) == (2, True, True), done


def test_a_damaged_thread_is_listed_and_can_go(cli: Cli, kept: str) -> None:
    begun("t1", "t2")

    async def damage() -> None:
        async with open_threads(address_of(Settings())) as saver:
            for table, column in saver.contents:
                await saver.rows(
                    f"UPDATE {table} SET {column} = ? WHERE thread_id = 't2'", (b"\xc1 not msgpack",)
                )

    asyncio.run(damage())
    listed = {item["thread_id"]: item for item in cli("threads", "--json").json}
    assert (listed["t1"]["status"], listed["t2"]["status"]) == ("answered", "damaged")
    assert "its checkpoint cannot be read" in listed["t2"]["task"]
    assert cli("threads").code == 0
    assert cli("show", "t2").code == 1
    assert cli("threads", *NOW).json["threads"] == ["t1"]
    assert cli("threads", *NOW, "--status", "damaged").json["threads"] == ["t2"]
    assert names(cli) == []
