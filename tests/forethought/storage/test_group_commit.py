"""Writes to SQLite that share a commit: on disk when they return, or with the checkpoint behind them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import ERROR, INTERRUPT, empty_checkpoint

from forethought.storage import open_threads
from forethought.storage.address import file_address
from forethought.storage.saver import ThreadSaver
from tests.forethought.storage.conftest import echo_graph


def head(thread_id: str) -> Any:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", "checkpoint_id": "1"}}


def kept(path: Path) -> list[tuple[str, int]]:
    """What another connection sees: thread and number of writes."""
    with sqlite3.connect(path) as other:
        return other.execute("SELECT thread_id, COUNT(*) FROM writes GROUP BY 1 ORDER BY 1").fetchall()


async def write(saver: ThreadSaver, thread_id: str, task: str = "task") -> None:
    await saver.aput_writes(head(thread_id), [("task", "a"), ("usage", {})], task)


async def trace_commits(saver: Any) -> list[str]:
    """The transactions that the connection begins from now on."""
    seen: list[str] = []
    await saver.conn.set_trace_callback(lambda text: seen.append(text) if text.startswith("BEGIN") else None)
    return seen


async def test_a_write_is_on_disk_when_it_returns(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    async with open_threads(file_address(path)) as saver:
        for at, name in enumerate("abc", start=1):
            await write(saver, name)
            assert len(kept(path)) == at


async def test_writes_that_come_together_share_a_commit(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    async with open_threads(file_address(path)) as saver:
        begun = await trace_commits(saver)
        await asyncio.gather(*(write(saver, f"{n:02}") for n in range(64)))
        assert len(begun) == 1
    assert kept(path) == [(f"{n:02}", 2) for n in range(64)]


async def test_a_write_that_fails_takes_no_other_with_it(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    async with open_threads(file_address(path)) as saver:
        bad = saver.aput_writes(head("bad"), [("task", "a")], task_id=object())  # type: ignore[arg-type]
        done = await asyncio.gather(write(saver, "a"), bad, write(saver, "b"), return_exceptions=True)
    assert [type(result) for result in done] == [type(None), sqlite3.ProgrammingError, type(None)]
    assert kept(path) == [("a", 2), ("b", 2)]


async def test_a_write_whose_task_was_cancelled_holds_up_no_other(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    async with open_threads(file_address(path)) as saver:
        writes = [asyncio.create_task(write(saver, name)) for name in "abc"]
        await asyncio.sleep(0)
        writes[0].cancel()
        done = await asyncio.wait_for(asyncio.gather(*writes, return_exceptions=True), 10)
        assert isinstance(done[0], asyncio.CancelledError)
        assert done[1:] == [None, None]
        await write(saver, "d")
    assert {"b", "c", "d"} <= {name for name, _ in kept(path)}


async def test_a_write_to_a_closed_database_fails(tmp_path: Path) -> None:
    async with open_threads(file_address(tmp_path / "t.sqlite")) as saver:
        await write(saver, "a")
    with pytest.raises(ValueError, match="Connection closed"):
        await asyncio.wait_for(write(saver, "b"), 10)


async def test_what_a_transaction_of_the_connection_does_is_never_half_committed(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    async with open_threads(file_address(path)) as saver:
        await write(saver, "a")
        begun = await trace_commits(saver)
        await asyncio.gather(write(saver, "b"), saver.adelete_thread("a"), write(saver, "c"))
        assert len(begun) == 2
    assert kept(path) == [("b", 2), ("c", 2)]


async def end(saver: ThreadSaver, thread_id: str, writes: Any = None) -> None:
    """Write what a task left that came to its end, as LangGraph does."""
    await saver.aput_writes(head(thread_id), writes or [("task", "a"), ("usage", {})], "task", "~path")


def checkpoint(thread_id: str) -> Any:
    """What `aput` takes, for the checkpoint behind `head`."""
    return (
        head(thread_id),
        {**empty_checkpoint(), "id": "2"},
        {"source": "loop", "step": 1, "parents": {}},
        {},
    )


async def test_a_task_and_the_checkpoint_behind_it_share_a_commit(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    async with open_threads(file_address(path)) as saver, saver.claim("a"):
        begun = await trace_commits(saver)
        await end(saver, "a")
        assert kept(path) == []
        await saver.aput(*checkpoint("a"))
        assert kept(path) == [("a", 2)]
        assert len(begun) == 1


async def test_a_task_whose_siblings_are_at_work_is_on_disk_in_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    async with open_threads(file_address(path)) as saver, saver.claim("a"):
        await end(saver, "a")
        for _ in range(1000):
            if kept(path):
                break
            await asyncio.sleep(0.01)
        assert kept(path) == [("a", 2)]


@pytest.mark.parametrize("channel", [ERROR, INTERRUPT])
async def test_what_ends_a_run_is_waited_for(tmp_path: Path, channel: str) -> None:
    path = tmp_path / "t.sqlite"
    async with open_threads(file_address(path)) as saver, saver.claim("a"), saver.claim("b"):
        await end(saver, "a")
        await end(saver, "b", [(channel, "why")])
        assert kept(path) == [("a", 2), ("b", 1)]


async def test_what_no_claim_protects_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    async with open_threads(file_address(path)) as saver:
        await end(saver, "a")
        assert kept(path) == [("a", 2)]


async def test_a_thread_is_on_disk_when_its_claim_ends_or_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    async with open_threads(file_address(path)) as saver:
        async with saver.claim("a"):
            await end(saver, "a", [("task", "a")])
            await saver.aget_tuple(head("a"))
            assert kept(path) == [("a", 1)]
            await saver.aput_writes(head("a"), [("usage", {})], "another", "~path")
        assert kept(path) == [("a", 2)]


REFUSED = "trajectory"


@asynccontextmanager
async def refusing(path: Path, threads: str = "") -> AsyncIterator[ThreadSaver]:
    """Threads, `threads` of them claimed, whose database refuses the writes to the channel REFUSED."""
    async with open_threads(file_address(path)) as saver, AsyncExitStack() as stack:
        refuse(path)
        for name in threads:
            await stack.enter_async_context(saver.claim(name))
        yield saver


def refuse(path: Path, channel: str = REFUSED) -> None:
    change(
        path,
        f"CREATE TRIGGER refusal BEFORE INSERT ON writes WHEN NEW.channel = '{channel}' "
        "BEGIN SELECT RAISE(ABORT, 'refused'); END",
    )


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute(statement)
        other.commit()


def checkpoints(path: Path) -> list[str]:
    """The threads that have a checkpoint."""
    with closing(sqlite3.connect(path)) as other:
        return [name for (name,) in other.execute("SELECT DISTINCT thread_id FROM checkpoints ORDER BY 1")]


@pytest.mark.parametrize("pause_s", [0, 0.05], ids=["in one group", "in a later one"])
async def test_no_checkpoint_is_committed_without_the_writes_before_it(
    tmp_path: Path, pause_s: float
) -> None:
    path = tmp_path / "t.sqlite"
    async with refusing(path, "ab") as saver:
        await end(saver, "a", [(REFUSED, "a step")])
        await end(saver, "b")
        await asyncio.sleep(pause_s)
        both = (saver.aput(*checkpoint(name)) for name in "ab")
        done = await asyncio.gather(*both, return_exceptions=True)
        assert [type(result) for result in done] == [sqlite3.IntegrityError, dict]
        assert (checkpoints(path), kept(path)) == (["b"], [("b", 2)])
        change(path, "DROP TRIGGER refusal")
        await end(saver, "a", [(REFUSED, "a step")])
        await saver.aput(*checkpoint("a"))
    assert (checkpoints(path), kept(path)) == (["a", "b"], [("a", 1), ("b", 2)])


async def test_another_write_does_not_take_the_error_from_the_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    async with refusing(path, "a") as saver:
        await end(saver, "a", [(REFUSED, "a step")])
        with pytest.raises(sqlite3.IntegrityError):
            await write(saver, "a", "a sibling")
        with pytest.raises(sqlite3.IntegrityError):
            await saver.aput(*checkpoint("a"))
    assert checkpoints(path) == []


async def test_a_run_whose_step_was_lost_resumes_before_it(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    config: Any = {"configurable": {"thread_id": "a"}}
    async with open_threads(file_address(path)) as saver, saver.claim("a"):
        refuse(path, "answer")
        with pytest.raises(sqlite3.IntegrityError, match="refused"):
            await echo_graph(saver).ainvoke({"task": "a task"}, config, durability="sync")
        change(path, "DROP TRIGGER refusal")
        assert (await echo_graph(saver).aget_state(config)).next == ("note",)
        assert (await echo_graph(saver).ainvoke(None, config))["answer"] == "echo of a task"


async def test_each_claim_raises_its_own_threads_error(tmp_path: Path) -> None:
    async with refusing(tmp_path / "t.sqlite") as saver:

        async def claimed(name: str, channel: str = REFUSED) -> None:
            async with saver.claim(name):
                await end(saver, name, [(channel, "a step")])

        each = (claimed("a"), claimed("b"), claimed("c", "task"))
        done = await asyncio.gather(*each, return_exceptions=True)
    assert [type(result) for result in done] == [sqlite3.IntegrityError] * 2 + [type(None)]


async def test_a_lost_write_hides_no_other_error_and_ends_with_its_claim(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    async with refusing(path) as saver:

        async def stopped() -> None:
            async with saver.claim("a"):
                await end(saver, "a", [(REFUSED, "a step")])
                raise ValueError("the real one")

        with pytest.raises(ValueError, match="the real one"):
            await stopped()
        async with saver.claim("a"):
            await end(saver, "a")
            await saver.aput(*checkpoint("a"))
    assert (checkpoints(path), kept(path)) == (["a"], [("a", 2)])
