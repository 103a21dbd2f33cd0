"""The journal of a task: kept at once, and found by the same task only, whatever stands beside it."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest
from langgraph._internal._constants import NULL_TASK_ID
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.types import INTERRUPT, RESUME
from langgraph.types import Interrupt

from forethought.journal import JournalError, checkpoint, current
from forethought.journal.checkpoint import CHANNEL, CheckpointJournal, Place, waits

TASK, OTHER = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))


async def put(saver: InMemorySaver, id: str, parent: str | None = None, source: Any = "loop") -> Place:
    """A checkpoint of the thread."""
    config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": parent}}
    made = {**empty_checkpoint(), "id": id}
    await saver.aput(config, made, {"source": source, "step": 1, "parents": {}}, {})  # type: ignore[arg-type]
    return Place("t", "", id)


async def test_what_is_written_is_there_for_the_same_task_from_then_on() -> None:
    saver = InMemorySaver()
    place = await put(saver, "1")
    await CheckpointJournal(saver, place, TASK).write("call", {"said": "yes"})
    again = CheckpointJournal(saver, place, TASK)
    assert await again.entries() == {"call": {"said": "yes"}}
    assert await CheckpointJournal(saver, place, OTHER).entries() == {}
    assert await CheckpointJournal(saver, await put(saver, "2", "1"), TASK).entries() == {}
    assert again.id("call") == CheckpointJournal(saver, place, TASK).id("call")
    assert len({again.id("call"), again.id("other"), CheckpointJournal(saver, place, OTHER).id("call")}) == 3
    assert [again.nth("a"), again.nth("a"), again.nth("b")] == [0, 1, 0]
    assert [again.counted(name) for name in "abc"] == [2, 1, 0]


async def test_an_entry_that_is_none_is_passed_over() -> None:
    saver = InMemorySaver()
    place = await put(saver, "1")
    journal = CheckpointJournal(saver, place, TASK)
    forged: list[Any] = ["text", {"task": TASK}, {"task": TASK, "key": "call", "value": "no object"}, None]
    for number, value in enumerate(forged):
        await saver.aput_writes(place.config, [(CHANNEL, value)], str(uuid.UUID(int=9 + number)))
    assert await journal.entries() == {}


async def test_a_task_inherits_from_those_before_an_edit_and_from_no_others() -> None:
    saver = InMemorySaver()
    first = await put(saver, "1")
    await CheckpointJournal(saver, first, OTHER).write("call", {"said": "maybe"})
    edited = await put(saver, "2", "1", "update")
    twice = await put(saver, "3", "2", "update")
    for place in (edited, twice):
        assert await CheckpointJournal(saver, place, TASK).inherited() == {"call": {"said": "maybe"}}
    assert await CheckpointJournal(saver, await put(saver, "4", "1"), TASK).inherited() == {}


async def test_an_entry_waits_for_the_checkpoint_that_it_belongs_to(monkeypatch: pytest.MonkeyPatch) -> None:
    saver, place = InMemorySaver(), Place("t", "", "1")
    journal = CheckpointJournal(saver, place, TASK)
    writing = asyncio.create_task(journal.write("call", {}))
    await asyncio.sleep(0.05)
    assert not writing.done()
    await put(saver, "1")
    await writing
    assert await CheckpointJournal(saver, place, TASK).entries() == {"call": {}}

    monkeypatch.setattr(checkpoint, "ANCHOR_S", 0.05)
    with pytest.raises(JournalError, match="and nothing is changed before it is"):
        await CheckpointJournal(saver, Place("t", "", "9"), TASK).write("call", {})


async def test_what_was_answered_is_waited_for_no_more_and_what_is_asked_then_is() -> None:
    saver = InMemorySaver()
    place = await put(saver, "1")
    config: Any = place.config

    async def waiting() -> bool:
        return waits(await saver.aget_tuple(config))

    assert not await waiting()
    for task in (TASK, OTHER):
        await saver.aput_writes(config, [(INTERRUPT, [Interrupt("Which?", id=task)])], task)
    await saver.aput_writes(config, [(RESUME, ["blue"])], TASK)
    await saver.aput_writes(config, [(RESUME, "red")], NULL_TASK_ID)
    await CheckpointJournal(saver, place, TASK).answered()
    assert await waiting(), "the other task's question is not touched"
    await CheckpointJournal(saver, place, OTHER).answered()
    assert not await waiting()
    saved = await saver.aget_tuple(config)
    assert saved
    assert not any(value for _, channel, value in saved.pending_writes or [] if channel == RESUME)
    await saver.aput_writes(config, [(INTERRUPT, [Interrupt("And now?", id=TASK)])], TASK)
    assert await waiting()
    await CheckpointJournal(saver, place, OTHER).write("call", {})
    await saver.aput_writes(config, [("results", "blue")], TASK)
    assert not await waiting(), "a task that is done waits for nobody"


async def test_outside_of_a_task_nothing_is_kept() -> None:
    journal = current()
    await journal.write("call", {"said": "yes"})
    assert await journal.entries() == {}
    await journal.answered()
    assert journal.id("call") != journal.id("call")
