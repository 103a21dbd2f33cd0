"""Jobs go after their threads, and files after their jobs."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from forethought.batch import BatchTask, cancel
from forethought.batch.retention import delete_jobs, open_jobs
from forethought.storage.retention import delete_threads
from tests.forethought.batch.conftest import Bench, MakeBench

NOW = timedelta(0)


async def _files(b: Bench) -> int:
    return int((await b.queue.rows("SELECT count(*) FROM forethought_files"))[0][0])


async def test_jobs_go_after_their_threads_and_files_after_their_jobs(
    bench: MakeBench, tmp_path: Path
) -> None:
    for name in ("shared", "own"):
        (tmp_path / f"{name}.txt").write_text(f"the {name} file")
    both = [str(tmp_path / "shared.txt"), str(tmp_path / "own.txt")]
    async with bench() as b:
        threads = b.queue.threads
        await b.submit(BatchTask(id="one", task="one", files=both))
        await b.work()
        await b.submit(BatchTask(id="two", task="two", files=both[:1]))
        assert await delete_jobs(threads, NOW) == 0, "its thread is there"
        await delete_threads(threads, ["b:one"])
        assert await delete_jobs(threads, timedelta(days=1)) == 0, "it is young"
        assert await delete_jobs(threads, NOW) == 1
        assert (set(await b.states()), await _files(b)) == ({"two"}, 2), "the files are young"
        await b.queue.rows("UPDATE forethought_files SET shared_at = now() - interval '2 hours'")
        assert await delete_jobs(threads, NOW) == 0
        assert await _files(b) == 1, "another job names it"
        assert (await b.work())["done"] == 1


async def test_open_and_waiting_jobs_stay_and_cancelled_ones_go(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one", "two", "three")
        waits = "UPDATE forethought_jobs SET outcome = 'waiting', ended_at = now() WHERE task = 'two'"
        await b.queue.rows(waits)
        await cancel(b.queue, thread_id="b:three")
        assert await open_jobs(b.queue.threads) == {"b:one": "todo", "b:two": "waiting"}
        assert await delete_jobs(b.queue.threads, NOW) == 1
        assert set(await b.states()) == {"one", "two"}
