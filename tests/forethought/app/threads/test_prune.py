"""`forethought threads --prune`: what goes and what stays."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forethought.app.runner import Runner, claimed_threads, open_runner
from forethought.settings import Settings
from forethought.storage import address_of, open_threads, retention
from forethought.storage.retention import YOUNG_S, delete_files
from forethought.tools.files import FileStore
from tests.forethought.app.conftest import Cli
from tests.forethought.app.debug_script import failed_run
from tests.forethought.app.test_bad_input import is_one_clear_line
from tests.forethought.storage.conftest import run

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


def test_finished_threads_go(cli: Cli, monkeypatch: pytest.MonkeyPatch, kept: str) -> None:
    monkeypatch.setenv("FORETHOUGHT_ENCRYPTION_KEY", "00112233445566778899aabbccddeeff")
    begun("t1", "t2", "t3")
    begun("t4", status="running")
    waits = cli("threads", "--prune", "--older-than", "0m")
    assert (waits.code, "3 threads and 0 debugging threads" in waits.out) == (4, True), waits
    assert "nothing was deleted; to delete, repeat the command with --yes" in waits.err
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
    begun("t1")
    begun("t2", status="failed")
    store = FileStore.of(Settings())
    old, read, again, new = (store.put(text.encode()) for text in ("old", "read", "again", "new"))
    for name in (old, read, again):
        os.utime(store.path(name), (1, 1))
    store.get(read)
    store.put(b"again")
    users = FileStore(store.root / "users" / "alice")
    os.utime(users.path(users.put(b"old")), (1, 1))
    assert cli("threads", *NOW).json["files"] == [old, old]
    lately = time.time() - 2 * YOUNG_S
    os.utime(store.path(new), (lately, lately))
    assert cli("threads", *NOW, "--status", "failed").json["files"] == [new]
    assert {path.name for path in store.root.rglob("*") if path.is_file()} == {read, again}


def test_files_stay_that_a_thread_which_is_left_may_need(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = FileStore.of(Settings()).put(b"needed")
    begun("t1")
    begun("t2", status="failed")
    later = time.time() + 2 * YOUNG_S
    monkeypatch.setattr(retention, "time", SimpleNamespace(time=lambda: later))
    assert cli("threads", *NOW).json["files"] == []
    assert cli("threads", *NOW, "--status", "failed").json["files"] == [needed]


def test_debuggings_go_as_well(cli: Cli, debugging: Scripted) -> None:
    _, server = debugging()
    failed_run(cli, server)
    assert cli("debug", "t1").code == 0
    done = cli("threads", *NOW).json
    assert (done["threads"], done["debuggings"]) == (["t1"], ["debug:t1:1"])
    assert names(cli) == []


def test_unfinished_ones_go_only_where_they_are_named(cli: Cli) -> None:
    begun("t1")
    begun("t2", status="failed")
    assert cli("threads", *NOW).json["threads"] == ["t1"]
    assert cli("threads", *NOW, "--status", "failed").json["threads"] == ["t2"]
    assert names(cli) == []


def test_a_thread_that_is_run_stays(cli: Cli) -> None:
    begun("t1", "t2")
    with open_runner(as_json=True) as holder:
        holder.open(claimed_threads(address_of(Settings()), None, "t1"))
        assert cli("threads", *NOW).json["threads"] == ["t2"]
    assert names(cli) == ["t1"]


def test_a_thread_that_is_gone_on_with_while_a_person_is_asked_stays(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun("t1", "t2")

    def confirm(*_: object, **__: object) -> bool:
        begun("t1")
        return True

    monkeypatch.setattr(Runner, "confirm", confirm)
    done = cli("threads", "--prune", "--older-than", "0m", "--json")
    assert done.json["skipped"] == ["t1"]
    assert "thread t1 was resumed in the meantime; it is not deleted" in done.err
    assert names(cli) == ["t1"]


def test_a_file_that_is_used_while_others_go_stays(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FileStore.of(Settings())
    first, second = sorted(store.put(text.encode()) for text in ("a", "b"))
    for name in (first, second):
        os.utime(store.path(name), (1, 1))
    unlink = Path.unlink

    def use_the_second(path: Path, missing_ok: bool = False) -> None:
        if path == store.path(first):
            store.get(second)
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", use_the_second)
    assert delete_files(store.root, timedelta(), math.inf) == [first]
    assert store.has(second)


def test_only_old_ones_go(cli: Cli) -> None:
    begun("t1")
    for age in ("1m", "12h", "30d", "2w"):
        assert cli("threads", "--prune", "--yes", "--older-than", age, "--json").json["threads"] == []
    wrong = cli("threads", "--prune", "--older-than", "soon")
    assert (wrong.code, is_one_clear_line(wrong)) == (2, True)
    assert "--older-than soon: write a number and m, h, d or w" in wrong.err


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
