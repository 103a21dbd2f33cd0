"""One process a thread: in one process, between processes, after a kill, after a lost connection."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from forethought.settings import Settings
from forethought.storage import Address, StorageError, address_of, open_threads
from forethought.storage.address import file_address
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
        assert await saver.locked_threads(["a", "b"]) == {"a"}
        with pytest.raises(StorageError, match="thread a is running in another process"):
            async with saver.claim("a"):
                pass
        async with saver.claim("b"):
            assert await saver.locked_threads(["a", "b", "c"]) == {"a", "b"}
        holder.kill()
        await asyncio.to_thread(holder.communicate)
        for _ in range(500):
            if not await saver.locked_threads(["a"]):
                break
            await asyncio.sleep(0.02)
        async with saver.claim("a"):
            assert await saver.locked_threads(["a"]) == {"a"}


async def test_a_thread_is_held_once_in_a_process(address: Address) -> None:
    async with open_threads(address) as saver, open_threads(address) as other:
        async with saver.claim("a"):
            for each in (saver, other):
                with pytest.raises(StorageError, match="another process"):
                    async with each.claim("a"):
                        pass
            async with other.claim("b"):
                assert await other.locked_threads(["a", "b"]) == {"a", "b"}
        assert await saver.locked_threads(["a", "b"]) == set()


@pytest.mark.skipif(sys.platform == "win32", reason="has no links")
async def test_a_link_to_a_file_is_the_same_file(tmp_path: Path) -> None:
    folder = tmp_path
    async with open_threads(file_address(folder / "t.sqlite")) as saver, saver.claim("a"):
        (folder / "link.sqlite").symlink_to(folder / "t.sqlite")
        async with open_threads(file_address(folder / "link.sqlite")) as other:
            assert await other.locked_threads(["a"]) == {"a"}


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
            assert await saver.locked_threads(["a", "kept"]) == {"kept"}, moment
        async with saver.claim("a"):
            pass


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
            assert await saver.locked_threads(["lost", "a"]) == {"a"}
            await run(saver, "a")
            with pytest.raises(StorageError, match="was lost"):
                await run(saver, "lost")
