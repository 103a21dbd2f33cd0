"""Runs on one thread of a server's own checkpointer wait for each other, whatever process they are in."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from forethought.settings import Settings
from forethought.storage import StorageError, address_of, open_threads
from forethought.storage import turns as turns_module
from forethought.storage.turns import turn
from tests.support.postgres import PostgresServer
from tests.support.processes import Start

HOLD = """
import asyncio, sys
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from forethought.storage.turns import turn

async def hold():
    async with AsyncPostgresSaver.from_conn_string(sys.argv[1]) as saver, turn(saver, "a"):
        print("held", flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(hold())
"""


@asynccontextmanager
async def a_servers(address: str) -> AsyncIterator[AsyncPostgresSaver]:
    """A checkpointer as aegra opens it: one pool for all runs of the process."""
    options: dict[str, Any] = {"autocommit": True, "prepare_threshold": None, "row_factory": dict_row}
    pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
        address, min_size=1, max_size=2, open=False, kwargs=options
    )
    async with pool:
        yield AsyncPostgresSaver(conn=pool)


async def _entered(saver: Any, thread_id: str, within_s: float) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within_s), turn(saver, thread_id):
            return True
    return False


async def test_one_at_a_time_in_a_process(postgres: str) -> None:
    at_work: list[str] = []
    most = 0

    async def run(name: str, thread_id: str) -> None:
        nonlocal most
        async with turn(saver, thread_id):
            at_work.append(thread_id)
            most = max(most, at_work.count(thread_id))
            await asyncio.sleep(0.02)
            at_work.remove(thread_id)

    async with a_servers(postgres) as saver:
        await asyncio.gather(*(run(str(n), "ab"[n % 2]) for n in range(8)))
    assert most == 1


async def test_another_thread_does_not_wait(postgres: str) -> None:
    async with a_servers(postgres) as saver, turn(saver, "a"):
        assert await _entered(saver, "b", 5)
        assert not await _entered(saver, "a", 0.6)


async def test_it_waits_for_another_process_and_no_longer_than_that_lives(
    postgres: str, python: Start
) -> None:
    holder = python(HOLD, postgres)
    assert holder.stdout is not None
    assert await asyncio.to_thread(holder.stdout.readline) == "held\n"
    async with a_servers(postgres) as saver:
        assert not await _entered(saver, "a", 0.6)
        holder.kill()
        assert await _entered(saver, "a", 20)
    await asyncio.to_thread(holder.communicate)


async def test_commands_and_a_server_on_one_database_hold_the_same_lock(postgres: str) -> None:
    address = address_of(Settings(db=postgres))
    async with open_threads(address) as ours, a_servers(postgres) as saver:
        async with ours.claim("a"):
            assert not await _entered(saver, "a", 0.6)
        async with turn(saver, "a"):
            with pytest.raises(StorageError, match="being run by another process"):
                async with ours.claim("a"):
                    pass


async def test_a_single_connection_does_as_well(postgres: str) -> None:
    async with AsyncPostgresSaver.from_conn_string(postgres) as saver, turn(saver, "a"):
        assert not await _entered(saver, "a", 0.6)


async def test_a_lost_lock_is_told(
    postgres: str, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns_module, "_CHECK_S", 0.0)
    async with a_servers(postgres) as saver, turn(saver, "a") as still_held:
        await still_held()
        postgres_server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
        )
        with pytest.raises(StorageError, match=r"was lost.*run it again without input"):
            await still_held()


async def test_a_waiting_run_can_be_cancelled(postgres: str) -> None:
    async with a_servers(postgres) as saver:
        async with turn(saver, "a"):
            waiting = asyncio.create_task(_entered(saver, "a", 30))
            await asyncio.sleep(0.3)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        assert await _entered(saver, "a", 5)


@pytest.mark.parametrize("given", [None, InMemorySaver()])
async def test_other_checkpointers_are_left_alone(given: Any) -> None:
    begun = time.monotonic()
    async with turn(given, "a") as outer, turn(given, "a") as inner:
        await outer()
        await inner()
    assert time.monotonic() - begun < 0.2


async def test_ours_are_left_to_claims(postgres: str) -> None:
    """The debugger runs branches of one thread side by side, under one claim."""
    async with open_threads(address_of(Settings(db=postgres))) as ours, turn(ours, "a"):
        assert await _entered(ours, "a", 5)


async def test_a_run_that_waits_keeps_one_connection(
    postgres: str, postgres_server: PostgresServer, python: Start
) -> None:
    holder = python(HOLD, postgres)
    assert holder.stdout is not None
    assert await asyncio.to_thread(holder.stdout.readline) == "held\n"
    query = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'forethought%' ORDER BY pid"
    async with a_servers(postgres) as saver:
        waiting = asyncio.create_task(_entered(saver, "a", 30))
        await asyncio.sleep(0.4)
        before = postgres_server.execute(query)
        await asyncio.sleep(0.6)
        assert postgres_server.execute(query) == before
        holder.kill()
        assert await waiting
    await asyncio.to_thread(holder.communicate)


async def test_a_checkpointer_that_is_gone_is_forgotten(postgres: str) -> None:
    async with a_servers(postgres) as saver, turn(saver, "a"):
        pass
    gone = weakref.ref(saver)
    del saver
    gc.collect()
    assert gone() is None
