"""Submitting: all or nothing, nothing twice, nothing secret."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from forethought.batch import BatchTask, open_queue, read_batch, submit
from forethought.batch.progress import list_jobs
from forethought.settings import Settings
from forethought.state.context import Context
from tests.forethought.batch.conftest import MakeBench, script
from tests.support.model_server import Fault

KEY = "00112233445566778899aabbccddeeff"
CONTEXT = Context(model="openai:scripted")


async def test_the_same_tasks_are_the_same_batch_and_added_once(bench: MakeBench) -> None:
    tasks = [BatchTask(task="one"), BatchTask(task="two")]
    async with bench() as b:
        first = await submit(b.queue, tasks, CONTEXT, b.settings)
        again = await submit(b.queue, tasks, CONTEXT, b.settings)
        assert (first.added, again.added, again.known, again.id) == (2, 0, 2, first.id)
        await b.work()
        assert (await submit(b.queue, tasks, CONTEXT, b.settings)).added == 0, "nor when they are done"
        other = await submit(b.queue, tasks, Context(model="openai:other"), b.settings)
        assert (other.added, other.id != first.id) == (2, True), "with another model it is another batch"


async def test_a_batch_grows_by_its_name_and_no_task_of_it_is_replaced(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one")
        assert (await b.submit("one", "two")).added == 1
        other = BatchTask(id="two", task="something else")
        with pytest.raises(ValueError, match=r"batch b already has a different task two.*nothing was added"):
            await b.submit("three", other)
        assert set(await b.states()) == {"one", "two"}
        for name in ("debug", "a b", "x" * 19):
            with pytest.raises(ValueError, match="is not a valid batch name"):
                await b.submit("four", batch=name)


async def test_two_that_submit_at_once_add_each_task_once(bench: MakeBench) -> None:
    async with bench() as b:
        names = [f"t{number}" for number in range(300)]
        done = await asyncio.gather(b.submit(*names), b.submit(*names))
        assert sorted(item.added for item in done) == [0, 300]
        assert (await b.queue.threads.rows("SELECT count(*) FROM procrastinate_jobs"))[0][0] == 300


async def test_a_job_holds_its_settings_and_no_secret(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    async with bench(api_key=SecretStr("another-secret-key")) as b:
        await b.submit("one", context=Context(model="openai:scripted", max_steps=3))
        rows = str(await b.queue.threads.rows("SELECT * FROM procrastinate_jobs"))
        kept = str(await b.queue.threads.rows("SELECT * FROM forethought_jobs"))
        assert "secret" not in rows + kept
        assert b.server.url not in rows + kept, "where models are asked is the worker's to say"
        assert "{'thread_id': 'b:one'}" in rows
        assert '"max_steps":3' in kept


async def test_with_a_key_what_a_job_is_given_is_encrypted(
    bench: MakeBench, tmp_path: Path, postgres: str
) -> None:
    path = tmp_path / "note.txt"
    path.write_text("a private note")
    async with bench(
        script(plans=lambda seen: Fault("400", message="private words")), encryption_key=KEY
    ) as b:
        await b.submit(BatchTask(id="one", task="a private task", files=(str(path),)))
        await b.work()
        assert "private words" in b.ended["b:one"].error
        for table in ("forethought_jobs", "forethought_files", "procrastinate_jobs"):
            found = await b.queue.threads.rows(f"SELECT * FROM {table}")
            assert found or table == "procrastinate_jobs"
            assert "private" not in str(found)
        assert ["private words" in job["error"] async for job in list_jobs(b.queue)] == [True]


async def test_workers_that_set_up_a_database_at_once_do_not_collide(
    settings: type[Settings], postgres: str
) -> None:
    async def opened() -> bool:
        async with open_queue(settings(db=postgres)) as queue:
            return await queue.threads.has_table("forethought_files")

    assert await asyncio.gather(*(opened() for _ in range(4))) == [True] * 4


def written(folder: Path, *lines: object) -> Path:
    path = folder / "tasks.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def test_a_task_needs_only_its_text_and_keeps_its_id_when_the_file_changes(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    lines = [{"task": "one"}, {"task": "one"}, {"task": "two", "files": ["a.txt"]}]
    first = read_batch(written(tmp_path, *lines))
    assert len({task.id for task in first}) == 3
    assert first[2].files == (str(tmp_path / "a.txt"),)
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "a.txt").write_text("a")
    again = read_batch(written(other, {"id": "new", "task": "three"}, "", *lines))
    assert [task.id for task in again[1:]] == [task.id for task in first]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "no tasks in it"),
        ([{"task": "a"}, {"task": " "}], ":2: task: string should have at least 1 character"),
        ([{"id": "a", "task": "a"}, {"id": "a", "task": "b"}], "the id 'a' is used twice"),
        ([{"task": "a", "expected": "b"}], ":1: expected: unknown field; use "),
        ([{"task": "a", "files": ["none.txt"]}], ":1: there is no file 'none.txt'"),
    ],
    ids=str,
)
def test_a_bad_line_is_named(tmp_path: Path, lines: list[object], told: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011, its words are looked at
        read_batch(written(tmp_path, *lines))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
