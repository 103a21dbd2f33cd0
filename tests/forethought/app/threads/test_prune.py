"""`forethought threads --prune`: what goes and what stays."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from forethought.app.runner import claimed_threads, open_runner
from forethought.settings import Settings
from forethought.storage import address_of, open_threads
from forethought.storage.retention import YOUNG_S
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


@pytest.fixture(autouse=True)
def an_old_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are taken for old at once, but for the test of young ones."""
    monkeypatch.setattr("forethought.storage.retention.YOUNG_S", -1.0)


def files(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "data" / "files"
    return sorted(folder.iterdir()) if folder.exists() else []


def names(cli: Cli) -> list[str]:
    return sorted(item["thread_id"] for item in cli("threads", "--all", "--json").json)


def begun(*names: str, status: str = "answered", stored: str = "") -> None:
    """Threads that have come to `status`, with a file that holds `stored`."""

    async def begin() -> None:
        settings = Settings()
        store = FileStore.of(settings)
        given: Any = {"status": status}
        if stored:
            given["files"] = [{"name": "f.txt", "hash": store.put(stored.encode()), "size": 1, "type": ""}]
        async with open_threads(address_of(settings), settings.key) as saver:
            for thread in names:
                await run(saver, thread, given=given)

    asyncio.run(begin())


def test_finished_threads_go_with_what_only_they_use(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kept: str
) -> None:
    monkeypatch.setenv("FORETHOUGHT_ENCRYPTION_KEY", "00112233445566778899aabbccddeeff")
    begun("t1", "t2", stored="used by both")
    begun("t3", stored="shared")
    begun("t4", status="running", stored="shared")
    (settings := Settings()).blobs_dir.joinpath("ab" * 32).write_text("of another database")

    waits = cli("threads", "--prune", "--older-than", "0m")
    assert (waits.code, "3 threads and 0 debuggings" in waits.out) == (4, True), waits
    assert "nothing was deleted; go on with the same command and --yes" in waits.err
    assert names(cli) == ["t1", "t2", "t3", "t4"]

    done = cli("threads", *NOW)
    assert (done.code, done.json["status"]) == (0, "pruned"), done.err
    assert done.json["threads"] == ["t3", "t2", "t1"]
    assert names(cli) == ["t4"]
    assert {path.name for path in files(tmp_path)} == {"ab" * 32, sha256(b"shared").hexdigest()}
    assert done.json["files"] == [sha256(b"used by both").hexdigest()]
    if "://" not in kept:
        assert done.json["bytes_before"] > done.json["bytes_after"] == Path(kept).stat().st_size
    assert FileStore.of(settings).get(sha256(b"shared").hexdigest()) == b"shared"
    assert cli("show", "t1").code == 2
    assert cli("show", "t4", "--json").json["answer"] == "echo of a task"
    assert "nothing to prune" in cli("threads", "--prune").out
    assert cli("threads", *NOW, "--status", "stopped").json["threads"] == ["t4"]
    assert [path.name for path in files(tmp_path)] == ["ab" * 32]


def test_a_thread_of_the_agent_goes_as_well(cli: Cli, scripted: Scripted, tmp_path: Path) -> None:
    scripted()
    (tmp_path / "own.txt").write_text("the content")
    assert cli("run", "What is 40 + 2?", "--thread", "t1", "--file", "own.txt").code == 0
    assert len(cli("threads", *NOW).json["files"]) == 1


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


def test_only_old_ones_go(cli: Cli) -> None:
    begun("t1")
    for age in ("1m", "12h", "30d", "2w"):
        assert cli("threads", "--prune", "--yes", "--older-than", age, "--json").json["threads"] == []
    wrong = cli("threads", "--prune", "--older-than", "soon")
    assert (wrong.code, is_one_clear_line(wrong)) == (2, True)
    assert "--older-than soon: write a number and m, h, d or w" in wrong.err


def test_a_file_that_is_wanted_again_stays(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun("t1", stored="the content")
    monkeypatch.setattr("forethought.storage.retention.YOUNG_S", YOUNG_S)
    assert cli("threads", *NOW).json["files"] == []
    (stored,) = files(tmp_path)
    begun("t1", stored="the content")
    old = time.time() - YOUNG_S - 60
    os.utime(stored, (old, old))
    assert cli("threads", *NOW).json["files"] == [stored.name]
    assert files(tmp_path) == []


def test_storing_a_file_again_makes_it_young(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    name = store.put(b"content")
    os.utime(tmp_path / name, (1, 1))
    store.put(b"content")
    assert time.time() - (tmp_path / name).stat().st_mtime < 60


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
