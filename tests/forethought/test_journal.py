"""The journal of a task: durable at once, and found by the same task only, whatever stands beside it."""

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

from forethought import journal
from forethought.journal import Journal, JournalError, current_journal, is_waiting

TASK, OTHER = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))


def config(id: str) -> Any:
    """The checkpoint of this id."""
    return {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": id}}


async def put(saver: InMemorySaver, id: str) -> Any:
    """A checkpoint of the thread."""
    checkpoint = {**empty_checkpoint(), "id": id}
    await saver.aput(config(""), checkpoint, {"source": "loop", "step": 1, "parents": {}}, {})  # type: ignore[arg-type]
    return config(id)


async def test_what_is_written_is_there_for_the_same_task_from_then_on() -> None:
    saver = InMemorySaver()
    first, second = await put(saver, "1"), await put(saver, "2")
    await Journal(saver, first, TASK).write("call", {"said": "yes"})
    assert await Journal(saver, first, TASK).entries() == {"call": {"said": "yes"}}
    assert await Journal(saver, first, OTHER).entries() == {}
    assert await Journal(saver, second, TASK).entries() == {}
    again = Journal(saver, first, TASK)
    assert again.id("call") == Journal(saver, second, TASK).id("call")
    assert len({again.id("call"), again.id("other"), Journal(saver, first, OTHER).id("call")}) == 3


async def test_an_entry_waits_for_the_checkpoint_that_it_belongs_to(monkeypatch: pytest.MonkeyPatch) -> None:
    saver = InMemorySaver()
    writing = asyncio.create_task(Journal(saver, config("1"), TASK).write("call", {}))
    await asyncio.sleep(0.05)
    assert not writing.done()
    await put(saver, "1")
    await writing
    assert await Journal(saver, config("1"), TASK).entries() == {"call": {}}

    monkeypatch.setattr(journal, "ANCHOR_S", 0.05)
    with pytest.raises(JournalError, match="so the call was not made"):
        await Journal(saver, config("9"), TASK).write("call", {})


async def test_what_was_answered_is_waited_for_no_more_and_what_is_asked_then_is() -> None:
    saver = InMemorySaver()
    place = await put(saver, "1")

    async def waiting() -> bool:
        return is_waiting(await saver.aget_tuple(place))

    assert not await waiting()
    for task in (TASK, OTHER):
        await saver.aput_writes(place, [(INTERRUPT, [Interrupt("Which?", id=task)])], task)
    await saver.aput_writes(place, [(RESUME, ["blue"])], TASK)
    await saver.aput_writes(place, [(RESUME, "red")], NULL_TASK_ID)
    await Journal(saver, place, TASK).clear_question()
    assert await waiting(), "the other task's question is not touched"
    await Journal(saver, place, OTHER).clear_question()
    assert not await waiting()
    saved = await saver.aget_tuple(place)
    assert saved
    assert not any(value for _, channel, value in saved.pending_writes or [] if channel == RESUME)
    await saver.aput_writes(place, [(INTERRUPT, [Interrupt("And now?", id=TASK)])], TASK)
    assert await waiting()
    await Journal(saver, place, OTHER).write("call", {})
    await saver.aput_writes(place, [("results", "blue")], TASK)
    assert not await waiting(), "a task that is done waits for nobody"


async def test_outside_of_a_task_nothing_is_kept() -> None:
    outside = current_journal()
    await outside.write("call", {"said": "yes"})
    assert await outside.entries() == {}
    await outside.clear_question()
    assert outside.id("call") != current_journal().id("call")
