"""One process a thread: in one process, between processes, after a kill, after a lost connection."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from psycopg import AsyncConnection

from forethought.settings import Settings
from forethought.storage import Address, StorageError, address_of, open_threads
from forethought.storage.address import file_address
from forethought.storage.advisory_locks import end, key_of, lock_key, silent
from forethought.storage.byte_locks import is_taken
from forethought.storage.postgres import PostgresThreads
from forethought.storage.sqlite_file import alone
from tests.forethought.storage.conftest import run
from tests.support.postgres import PostgresServer
from tests.support.processes import Start

HOLD = """
import asyncio, sys
from forethought.settings import Settings
from forethought.storage import address_of, open_threads

async def hold():
    async with open_threads(address_of(Settings(db=sys.argv[1]))) as saver, saver.claim("a"):
        print("held", flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(hold())
"""


async def test_a_thread_is_held_by_one_process(database: str, address: Address, python: Start) -> None:
    async with open_threads(address) as saver:
        holder = python(HOLD, database)
        assert holder.stdout is not None
        assert await asyncio.to_thread(holder.stdout.readline) == "held\n"
        assert await saver.claimed(["a", "b"]) == {"a"}
        with pytest.raises(StorageError, match="thread a is being run by another process"):
            async with saver.claim("a"):
                pass
        async with saver.claim("b"):
            assert await saver.claimed(["a", "b", "c"]) == {"a", "b"}
        holder.kill()
        await asyncio.to_thread(holder.communicate)
        for _ in range(500):
            if not await saver.claimed(["a"]):
                break
            await asyncio.sleep(0.02)
        async with saver.claim("a"):
            assert await saver.claimed(["a"]) == {"a"}


async def test_a_thread_is_held_once_in_a_process(address: Address) -> None:
    async with open_threads(address) as saver, open_threads(address) as other:
        async with saver.claim("a"):
            for each in (saver, other):
                with pytest.raises(StorageError, match="another process"):
                    async with each.claim("a"):
                        pass
            async with other.claim("b"):
                assert await other.claimed(["a", "b"]) == {"a", "b"}
        assert await saver.claimed(["a", "b"]) == set()


async def test_looking_does_not_let_go(database: str, address: Address, python: Start) -> None:
    """Closing a file lets go of all the locks that a process has on it."""
    look = """
import asyncio, sys
from forethought.settings import Settings
from forethought.storage import address_of, open_threads
async def look():
    async with open_threads(address_of(Settings(db=sys.argv[1]))) as saver:
        print(sorted(await saver.claimed(["a", "b", "c"])))
asyncio.run(look())
"""
    async with open_threads(address) as saver, saver.claim("a"):
        assert await saver.claimed(["a", "b"]) == {"a"}
        async with saver.claim("b"):
            pass
        out, err = await asyncio.to_thread(python(look, database).communicate)
        assert (out, err) == ("['a']\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="has no links")
async def test_a_link_to_a_file_is_the_same_file(tmp_path: Path) -> None:
    folder = tmp_path
    async with open_threads(file_address(folder / "t.sqlite")) as saver, saver.claim("a"):
        (folder / "link.sqlite").symlink_to(folder / "t.sqlite")
        async with open_threads(file_address(folder / "link.sqlite")) as other:
            assert await other.claimed(["a"]) == {"a"}


async def test_a_run_that_lost_its_thread_writes_no_more(
    postgres: str, postgres_server: PostgresServer
) -> None:
    address = address_of(Settings(db=postgres))
    async with open_threads(address) as saver, open_threads(address) as other:
        async with saver.claim("a"):
            await run(saver, "a", "before")
            query = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
            ((holder,),) = await other.rows(query)
            postgres_server.execute(f"SELECT pg_terminate_backend({holder})")
            async with other.claim("a"):
                await run(other, "a", "by another")
                with pytest.raises(StorageError, match=r"was lost.*forethought resume a"):
                    await run(saver, "a", "behind its back")
            assert await saver.tree("a") == await other.tree("a")
            config: Any = {"configurable": {"thread_id": "a", "checkpoint_ns": "", "checkpoint_id": "1"}}
            with pytest.raises(StorageError, match="was lost"):
                await saver.aput_writes(config, [("answer", "x")], "00000000-0000-0000-0000-000000000000")
            with pytest.raises(StorageError, match="was lost"):
                await saver.aput(config, empty_checkpoint(), {}, {})
        async with saver.claim("a"):
            await run(saver, "a", "held again")


async def test_a_cancelled_claim_holds_nothing(address: Address) -> None:
    async def one() -> None:
        async with saver.claim("a"):
            await asyncio.sleep(9)

    async with open_threads(address) as saver, saver.claim("kept"):
        for moment in range(60):
            task = asyncio.create_task(one())
            await asyncio.sleep(0.00005 * moment)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert await saver.claimed(["a", "kept"]) == {"kept"}, moment
        async with saver.claim("a"):
            pass


async def test_setting_up_that_is_cancelled_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"

    async def one() -> None:
        async with alone(path):
            await asyncio.sleep(9)

    for moment in range(20):
        task = asyncio.create_task(one())
        await asyncio.sleep(0.00005 * moment)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert not is_taken(path, "setting up")


async def _end_sessions(server: PostgresServer) -> None:
    query = "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory' AND granted"
    await asyncio.to_thread(server.execute, query)


async def test_another_thread_is_held_although_the_connection_was_lost(
    postgres: str, postgres_server: PostgresServer
) -> None:
    """As after a restart of the server, which nobody notices before the connection is used."""
    async with open_threads(address_of(Settings(db=postgres))) as saver, saver.claim("lost"):
        await _end_sessions(postgres_server)
        async with saver.claim("a"):
            assert await saver.claimed(["lost", "a"]) == {"a"}
            await run(saver, "a")
            with pytest.raises(StorageError, match="was lost"):
                await run(saver, "lost")


async def test_a_holder_that_has_fallen_silent_is_found_and_ended(postgres: str) -> None:
    address = address_of(Settings(db=postgres))
    async with open_threads(address) as saver, open_threads(address) as other:
        assert isinstance(saver, PostgresThreads)
        assert isinstance(other, PostgresThreads)
        async with saver.claim("a"):
            await asyncio.sleep(0.3)
            assert await silent(other.rows, 0.2) == {}, "it never beat: a person may sit before it"
            await saver.beat()
            assert await silent(other.rows, 5) == {}
            await asyncio.sleep(0.3)
            ((session, seconds),) = (await silent(other.rows, 0.2)).items()
            assert seconds > 0.2
            assert await end(other.rows, session)
            async with other.claim("a"):
                with pytest.raises(StorageError, match="was lost"):
                    await run(saver, "a")


async def test_a_session_of_another_user_is_not_ended(postgres: str, postgres_server: PostgresServer) -> None:
    locked = postgres.replace("postgres@", "locked:right-password@")
    async with open_threads(address_of(Settings(db=postgres))) as saver, saver.claim("a"):
        query = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
        ((session,),) = await saver.rows(query)

        async def rows(query: str, given: Any) -> list[Any]:
            async with await AsyncConnection.connect(locked) as connection:
                return await (await connection.execute(query.replace("?", "%s"), given)).fetchall()

        assert not await end(rows, session)
        await run(saver, "a")


async def test_a_pool_that_shares_sessions_is_told(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it looks through a pool in transaction mode: another session answers."""
    async with open_threads(address_of(Settings(db=postgres))) as saver, saver.claim("a"):
        monkeypatch.setattr(saver._locks, "_session", 1)  # type: ignore[attr-defined]
        with pytest.raises(StorageError, match="a pool in session mode"):
            await run(saver, "a")


def test_a_lock_key_is_found_again_in_its_halves() -> None:
    for name in ("a", "20260517-3f9a1c", "ü", "debug:t1:1"):
        key = lock_key(name)
        raw = key.to_bytes(8, "big", signed=True)
        assert key_of(int.from_bytes(raw[:4], "big"), int.from_bytes(raw[4:], "big")) == key
