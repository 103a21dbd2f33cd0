"""Jobs of workers that are gone, and of a worker that forgot them."""

from __future__ import annotations

from forethought.batch.rescue import ALONE, DEAD_AFTER_S, HEARTBEAT_S, LOOK_S, Strays, rescue
from tests.forethought.batch.conftest import Bench, MakeBench


async def fetched(b: Bench) -> int:
    """Have a worker fetch a job; the worker's id."""
    number = await b.queue.manager.register_worker()
    assert await b.queue.manager.fetch_job(["default"], number)
    return int(number)


async def silent(b: Bench, number: int, seconds: float) -> None:
    """Let a worker's last heartbeat be so long ago."""
    await b.queue.threads.rows(
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
        await b.queue.manager.prune_stalled_workers(DEAD_AFTER_S)
        assert await fetched(b) != dead


async def test_of_several_that_rescue_one_does(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one")
        await silent(b, await fetched(b), 60)
        async with b.queue.threads.pool.connection() as other, other.transaction():
            await other.execute("SELECT pg_advisory_xact_lock(%s)", (ALONE,))
            assert await rescue(b.queue) == []
        assert await b.states() == {"one": "doing"}
        assert await rescue(b.queue) == ["b:one"]


async def test_a_worker_that_starts_takes_a_dead_ones_jobs_over(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one")
        await silent(b, await fetched(b), 60)
        assert await b.work() == {"done": 1}
        assert b.put_back == [("b:one", "its worker is gone")]


async def test_a_job_that_its_worker_forgot_goes_back_the_second_time_it_is_seen(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one", "two")
        number = await fetched(b)
        assert await b.queue.manager.fetch_job(["default"], number)
        (running,) = (await b.queue.threads.rows("SELECT min(id) FROM procrastinate_jobs"))[0]
        strays = Strays()
        await strays.put_back(b.queue, number, {running})
        assert await b.states() == {"one": "doing", "two": "doing"}
        await strays.put_back(b.queue, number, {running})
        assert await b.states() == {"one": "doing", "two": "todo"}


def test_rescue_comes_within_thirty_seconds() -> None:
    assert HEARTBEAT_S < DEAD_AFTER_S / 2
    assert DEAD_AFTER_S + LOOK_S + 5 < 30
