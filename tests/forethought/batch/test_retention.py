"""Jobs go with their threads, cancelled ones by their age, and files with their jobs."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from forethought.batch import BatchTask, cancel
from forethought.batch.retention import delete_jobs
from tests.forethought.batch.conftest import MakeBench


async def test_jobs_go_with_their_threads_and_files_with_the_last_job_that_names_them(
    bench: MakeBench, tmp_path: Path
) -> None:
    for name in ("shared", "own"):
        (tmp_path / f"{name}.txt").write_text(f"the {name} file")
    both = (str(tmp_path / "shared.txt"), str(tmp_path / "own.txt"))
    async with bench() as b:
        threads = b.queue.threads
        await b.submit(BatchTask(id="one", task="one", files=both))
        await b.work()
        await b.submit(BatchTask(id="two", task="two", files=both[:1]), "three")
        assert await delete_jobs(threads, ["b:one"], timedelta(0)) == 1
        assert (set(await b.states()), len(await threads.rows("SELECT hash FROM forethought_files"))) == (
            {"two", "three"},
            1,
        )
        assert await b.work() == {"done": 2}
        await b.submit("four")
        assert await cancel(b.queue) == 1
        assert await delete_jobs(threads, [], timedelta(days=1)) == 0, "it is young"
        assert await delete_jobs(threads, [], timedelta(0)) == 1
        assert set(await b.states()) == {"two", "three"}
