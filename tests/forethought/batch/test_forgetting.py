"""Jobs that have ended go with their threads; files go with the last job that names them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from forethought.batch import BatchTask, cancel, forgetting
from forethought.batch.forgetting import forgettable
from forethought.storage import StorageError
from forethought.storage.retention import delete_threads
from forethought.storage.saver import ThreadSaver
from tests.forethought.batch.conftest import Bench, MakeBench

NOW = timedelta(0)
KEY = "00112233445566778899aabbccddeeff"


async def forget(saver: ThreadSaver, older_than: timedelta) -> tuple[int, int]:
    """Jobs and files that went."""
    return await forgetting.forget(saver, older_than), await forgetting.forget_files(saver)


async def _files(b: Bench) -> int:
    return int((await b.queue.threads.rows("SELECT count(*) FROM forethought_files"))[0][0])


async def _pretend_an_hour_went_by(b: Bench) -> None:
    await b.queue.threads.rows("UPDATE forethought_files SET shared_at = now() - interval '2 hours'")


@pytest.mark.parametrize("key", ["", KEY])
async def test_jobs_go_after_their_threads_and_files_after_their_jobs(
    bench: MakeBench, tmp_path: Path, key: str
) -> None:
    for name in ("shared", "own"):
        (tmp_path / f"{name}.txt").write_text(f"the {name} file")
    both = [str(tmp_path / "shared.txt"), str(tmp_path / "own.txt")]
    async with bench(encryption_key=key) if key else bench() as b:
        threads = b.queue.threads
        await b.submit(BatchTask(id="one", task="one", files=both))
        await b.work()
        await b.submit(BatchTask(id="two", task="two", files=both[:1]))
        assert await forget(threads, NOW) == (0, 0), "its thread is there"

        await delete_threads(threads, ["b:one"], None)
        assert await forgettable(threads, timedelta(days=1)) == 0, "it is young"
        assert await forgettable(threads, NOW) == 1
        assert await forget(threads, NOW) == (1, 0)
        assert (set(await b.states()), await _files(b)) == ({"two"}, 2), "the files are young"

        await _pretend_an_hour_went_by(b)
        assert await forget(threads, NOW) == (0, 1)
        assert await _files(b) == 1, "another job names it"
        assert (await b.work())["done"] == 1


async def test_what_is_submitted_again_keeps_its_file(bench: MakeBench, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a file")
    async with bench() as b:
        await b.submit(BatchTask(id="one", task="one", files=[str(tmp_path / "a.txt")]))
        await b.work()
        await delete_threads(b.queue.threads, ["b:one"], None)
        await _pretend_an_hour_went_by(b)
        await b.submit(BatchTask(id="two", task="two", files=[str(tmp_path / "a.txt")]), batch="c")
        assert await forget(b.queue.threads, NOW) == (1, 0)
        assert await _files(b) == 1


async def test_a_job_that_was_cancelled_before_it_began_goes_whole(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one", "two")
        await cancel(b.queue, thread_id="b:one")
        assert await forget(b.queue.threads, NOW) == (1, 0)
        assert await b.queue.threads.rows("SELECT args->>'thread_id' FROM procrastinate_jobs") == [("b:two",)]


async def test_what_was_cancelled_now_is_young_however_long_it_waited(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one")
        await b.queue.threads.rows("UPDATE forethought_jobs SET submitted_at = now() - interval '40 days'")
        await cancel(b.queue, thread_id="b:one")
        assert await forgettable(b.queue.threads, timedelta(days=30)) == 0


async def test_while_a_job_cannot_be_read_all_files_stay(bench: MakeBench, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a file")
    async with bench() as b:
        await b.submit(BatchTask(id="one", task="one", files=[str(tmp_path / "a.txt")]), "two")
        await b.queue.threads.rows("UPDATE forethought_jobs SET given = 'x' WHERE task = 'one'")
        await _pretend_an_hour_went_by(b)
        with pytest.raises(StorageError, match="job b:one: its row cannot be read"):
            await forget(b.queue.threads, NOW)
        assert await _files(b) == 1


async def test_open_and_waiting_jobs_stay(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one", "two")
        await b.queue.threads.rows(
            "UPDATE forethought_jobs SET outcome = 'waiting', ended_at = now() WHERE task = 'two'"
        )
        assert await forget(b.queue.threads, NOW) == (0, 0)
        assert set(await b.states()) == {"one", "two"}
