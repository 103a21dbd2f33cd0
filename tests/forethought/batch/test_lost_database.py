"""A database that is gone for a moment fails no job, wherever it catches a worker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from procrastinate.jobs import Job

from forethought.batch import patience
from forethought.batch.acknowledging import PutBack
from forethought.batch.outcomes import Retries, TryAgain
from forethought.batch.patience import patiently
from forethought.batch.running import Runner
from forethought.batch.worker import SharedDrain
from forethought.storage.postgres import PostgresThreads
from tests.forethought.batch.conftest import MakeBench, script
from tests.forethought.batch.test_worker import until
from tests.support.model_server import Fault
from tests.support.postgres import PostgresServer
from tests.support.replies import finish

END_ALL = "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory'"
END_THIS = "SELECT pg_terminate_backend(pg_backend_pid())"


@pytest.mark.parametrize("moment", ["SELECT thread_id", "run IS NOT NULL AND", "SET run = ?", "SET outcome"])
@pytest.mark.parametrize("done_first", [False, True], ids=["before", "after"])
async def test_a_connection_that_is_lost_around_a_statement(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch, moment: str, done_first: bool
) -> None:
    rows, lost = PostgresThreads.rows, list[str]()

    async def losing(self: PostgresThreads, query: str, given: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if moment in query and not lost:
            lost.append(query)
            if done_first:
                await rows(self, query, given)
            await rows(self, END_THIS)
        return await rows(self, query, given)

    async with bench() as b:
        await b.submit("one", "two")
        monkeypatch.setattr(PostgresThreads, "rows", losing)
        assert await b.work(concurrency=1) == {"done": 2}
        assert lost
        assert b.put_back == [], "it is tried again the next moment"
        assert len(b.server.requests) == 8, "and no model is asked twice"
        assert await b.queue.threads.rows("SELECT DISTINCT error, tries FROM forethought_jobs") == [("", 1)]


async def test_a_dead_lock_connection_is_opened_anew(
    bench: MakeBench, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another job's thread is on it, which is lost with it: that job goes back, and is not counted."""
    begun, attempt = list[str](), Runner._attempt

    async def losing(self: Runner, job: Any, drain: Any) -> Any:
        begun.append(job.thread_id)
        if len(begun) == 1:
            query = f"{END_ALL} AND granted"
            await asyncio.to_thread(postgres_server.execute, query)
        return await attempt(self, job, drain)

    monkeypatch.setattr(Runner, "_attempt", losing)
    async with bench() as b:
        await b.submit("one", "two", "three")
        assert await b.work(concurrency=2) == {"done": 3}
        assert set((await b.states()).values()) == {"done"}
        assert b.put_back
        assert all("was lost" in why for _, why in b.put_back)
        assert begun[-1] == "b:three" or begun.count("b:three") == 1
        assert await b.queue.threads.rows("SELECT DISTINCT tries FROM forethought_jobs") == [(1,)]


async def test_a_server_that_is_begun_anew_fails_no_job_that_may_be_tried_once(
    bench: MakeBench, postgres: str, postgres_server: PostgresServer
) -> None:
    name, restarts = postgres.rpartition("/")[2].partition("?")[0], list[int]()

    def moves(seen: Any) -> Any:
        restarts.append(1)
        postgres_server.execute(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        )
        return finish("seen")

    async with bench(script(moves={"a": moves})) as b:
        await b.submit("one", "two")
        await b.work(concurrency=2, retries=Retries(most=1, first_s=0.05))
        assert await b.states() == {"one": "done", "two": "done"}
        assert restarts


async def test_patience_ends_and_is_for_lost_connections_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    async def lost() -> None:
        asked.append(1)
        raise psycopg.OperationalError("server closed the connection")

    async def wrong() -> None:
        asked.append(2)
        raise psycopg.errors.UniqueViolation("there already")

    monkeypatch.setattr(patience, "_PATIENCE_S", 0.25)
    with pytest.raises(psycopg.OperationalError):
        await patiently(lost)
    assert asked == [1, 1, 1]
    with pytest.raises(psycopg.errors.UniqueViolation):
        await patiently(wrong)
    assert asked == [1, 1, 1, 2]


async def test_the_wait_of_a_job_is_by_the_databases_clock(bench: MakeBench) -> None:
    job = Job(id=1, queue="q", lock="l", queueing_lock="l", task_name="t")
    decided = PutBack().get_retry_decision(exception=TryAgain("", 90), job=job)
    assert decided is not None
    assert decided.retry_at == datetime.fromtimestamp(90, UTC), "no clock of this machine is asked"
    drain = SharedDrain()
    async with bench(script(plans=lambda seen: Fault("503"))) as b:
        await b.submit("one")
        working = asyncio.create_task(b.work(drain, retries=Retries(first_s=100), until_empty=False))
        await until(lambda: b.put_back, "the job to be put back")
        await asyncio.sleep(0.5)
        query = "SELECT extract(epoch FROM scheduled_at - now())::float8 FROM procrastinate_jobs"
        found = await b.queue.threads.rows(query)
        drain.request()
        await working
        assert 70 < found[0][0] < 126
