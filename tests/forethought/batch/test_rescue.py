"""Jobs of workers that are gone, and workers whose database is gone."""

from __future__ import annotations

import psycopg
import pytest

from forethought.batch import Queue, worker
from forethought.batch.worker import DEAD_AFTER_S, rescue
from forethought.storage import StorageError, open_threads
from tests.forethought.batch.conftest import Bench, MakeBench, script
from tests.support.model_server import Fault
from tests.support.replies import finish


async def fetched(b: Bench) -> int:
    """Have a worker fetch a job; the worker's id."""
    number = await b.queue.app.job_manager.register_worker()
    assert await b.queue.app.job_manager.fetch_job(["default"], number)
    return int(number)


async def silent(b: Bench, number: int, seconds: float) -> None:
    """Let a worker's last heartbeat be so long ago."""
    await b.queue.threads.rows(
        "UPDATE procrastinate_workers SET last_heartbeat = now() - ? * interval '1 s' WHERE id = ?",
        (seconds, number),
    )


async def test_jobs_of_a_dead_worker_go_back_and_those_of_a_living_one_stay(bench: MakeBench) -> None:
    async with bench() as b, open_threads(b.queue.address) as other:
        await b.submit("one", "two")
        dead, alive = await fetched(b), await fetched(b)
        await silent(b, alive, DEAD_AFTER_S - 2)
        assert await rescue(b.queue) == []
        await silent(b, dead, DEAD_AFTER_S + 1)
        async with other.claim("rescuing jobs"):
            assert await rescue(b.queue) == [], "another worker does it"
        assert await rescue(b.queue) == ["b:one"]
        assert await b.states() == {"one": "todo", "two": "doing"}
        assert await rescue(b.queue) == []


async def test_a_worker_that_starts_takes_a_dead_ones_jobs_over(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one")
        await silent(b, await fetched(b), 60)
        assert await b.work() == {"done": 1}
        assert b.put_back == [("b:one", "its worker has died")]


async def test_a_worker_whose_database_is_gone_ends_and_its_jobs_go_on_with_the_next_one(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(queue: Queue) -> list[str]:
        if "ToolChoice" in b.asked("one"):
            raise psycopg.OperationalError("the connection is closed")
        return []

    async with bench(script(moves={"a": [Fault("hang"), finish("seen")]})) as b:
        await b.submit("one")
        monkeypatch.setattr(worker, "rescue", lost)
        with pytest.raises(StorageError, match="was lost; start the worker again when it is back"):
            await b.work()
        monkeypatch.undo()
        assert await b.work() == {"done": 1}
