"""Jobs of workers that are gone, and a database that is gone for a moment."""

from __future__ import annotations

from typing import Any

import pytest

from forethought.batch.job import Retries
from forethought.batch.worker import DEAD_AFTER_S, rescue
from forethought.storage import open_threads
from tests.forethought.batch.conftest import Bench, MakeBench, script
from tests.support.postgres import PostgresServer
from tests.support.replies import finish


async def fetched(b: Bench) -> int:
    """Have a worker fetch a job; the worker's id."""
    number = await b.queue.app.job_manager.register_worker()
    assert await b.queue.app.job_manager.fetch_job(["default"], number)
    return int(number)


async def silent(b: Bench, number: int, seconds: float) -> None:
    """Let a worker's last heartbeat be so long ago."""
    await b.queue.rows(
        "UPDATE procrastinate_workers SET last_heartbeat = now() - ? * interval '1 s' WHERE id = ?",
        (seconds, number),
    )


async def test_jobs_of_a_dead_worker_go_back_and_those_of_a_living_one_stay(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one", "two")
        dead, alive = await fetched(b), await fetched(b)
        await silent(b, alive, DEAD_AFTER_S - 2)
        assert await rescue(b.queue) == []
        await silent(b, dead, DEAD_AFTER_S + 1)
        assert await rescue(b.queue) == ["b:one"]
        assert await b.states() == {"one": "todo", "two": "doing"}
        assert await rescue(b.queue) == []


async def test_of_several_that_rescue_one_does(bench: MakeBench) -> None:
    async with bench() as b, open_threads(b.queue.address) as other:
        await b.submit("one")
        await silent(b, await fetched(b), 60)
        async with other.claim("rescuing jobs"):
            assert await rescue(b.queue) == []
        assert await rescue(b.queue) == ["b:one"]


async def test_a_worker_that_starts_takes_a_dead_ones_jobs_over(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one")
        await silent(b, await fetched(b), 60)
        assert await b.work() == {"done": 1}
        assert b.put_back == [("b:one", "its worker is gone")]


@pytest.mark.parametrize("concurrency", [1, 2])
async def test_a_server_that_is_begun_anew_fails_no_job_that_may_be_tried_once(
    bench: MakeBench, postgres: str, postgres_server: PostgresServer, concurrency: int
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
        await b.work(concurrency=concurrency, retries=Retries(most=1, first_s=0.05))
        assert await b.states() == {"one": "done", "two": "done"}
        assert restarts
