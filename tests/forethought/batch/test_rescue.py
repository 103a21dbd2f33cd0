"""Jobs of workers that are gone, and of a worker that forgot them."""

from __future__ import annotations

from procrastinate.jobs import Status

from forethought.batch import retry
from forethought.batch.acknowledging import OwnJobs
from forethought.batch.rescue import ALONE, DEAD_AFTER_S, HEARTBEAT_S, LOOK_S, Strays, rescue
from forethought.batch.submitting import enqueue
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


async def test_a_second_row_of_a_job_holds_no_rescue_up(bench: MakeBench) -> None:
    """A worker kept how a job ended and died before the queue knew; then a person had it taken up again."""
    async with bench() as b:
        await b.submit("one", "two")
        number = await fetched(b)
        assert await b.queue.manager.fetch_job(["default"], number)
        await silent(b, number, 60)
        await b.queue.threads.rows("UPDATE forethought_jobs SET outcome = 'failed' WHERE task = 'one'")
        assert await retry(b.queue) == 1
        assert await rescue(b.queue) == ["b:two"]
        assert await rescue(b.queue) == []
        assert await b.work() == {"done": 2}
        assert await b.queue.threads.rows("SELECT id FROM procrastinate_jobs") == []


async def test_rows_of_jobs_that_have_ended_go_rather_than_return(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one", "two")
        dead, alive = await fetched(b), await fetched(b)
        await b.queue.threads.rows("UPDATE forethought_jobs SET outcome = 'done'")
        await silent(b, dead, 60)
        assert await rescue(b.queue) == []
        strays = Strays()
        for _ in range(2):
            await strays.put_back(b.queue, alive, set())
        assert await b.queue.threads.rows("SELECT id FROM procrastinate_jobs") == []


async def test_a_row_that_waits_already_is_not_put_back_beside_itself(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one", "two")
        number = await fetched(b)
        async with b.queue.threads.pool.connection() as connection, connection.transaction():
            await enqueue(b.queue, [("b:one", "default", 0)], connection)
        await b.queue.threads.rows("UPDATE forethought_jobs SET job = 1 WHERE task = 'one'")
        await silent(b, number, 60)
        assert await rescue(b.queue) == []
        left = await b.queue.threads.rows("SELECT lock, status::text FROM procrastinate_jobs ORDER BY id")
        assert left == [("b:two", "todo"), ("b:one", "todo")]


async def test_retry_takes_the_place_of_a_stale_row(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one", "two")
        await b.queue.threads.rows("UPDATE forethought_jobs SET outcome = 'failed'")
        assert await retry(b.queue) == 2
        assert await b.work() == {"done": 2}


async def test_who_hung_says_nothing_of_jobs_that_others_have_by_now(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one")
        hung = await b.queue.manager.fetch_job(["default"], await b.queue.manager.register_worker())
        assert hung is not None
        await silent(b, hung.worker_id or 0, 60)
        assert await rescue(b.queue) == ["b:one"]
        own = OwnJobs(b.queue)
        await own.retry_job(hung)
        await own.finish_job(hung, Status.SUCCEEDED, delete_job=True)
        assert await b.states() == {"one": "todo"}
        other = await b.queue.manager.fetch_job(["default"], await b.queue.manager.register_worker())
        assert other is not None
        await own.retry_job(hung)
        await own.finish_job(hung, Status.SUCCEEDED, delete_job=True)
        assert await b.states() == {"one": "doing"}
        await own.finish_job(other, Status.SUCCEEDED, delete_job=True)
        assert await b.queue.threads.rows("SELECT id FROM procrastinate_jobs") == []


def test_rescue_comes_within_thirty_seconds() -> None:
    assert HEARTBEAT_S < DEAD_AFTER_S / 2
    assert DEAD_AFTER_S + LOOK_S + 5 < 30
