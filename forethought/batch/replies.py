"""Whether a thread waits for a person, or has been replied to and only not been gone on with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.types import Interrupt

from forethought.journal.checkpoint import entries_of, finished_of
from forethought.storage.saver import ThreadSaver
from nodes.attempts import Attempts, step_attempts
from nodes.unknown_outcome import again_word

_ASKED = "__interrupt__"


async def waits(saver: ThreadSaver, thread_id: str) -> bool:
    """Whether nothing is to be done on the thread before a person replies.

    LangGraph keeps a question until the step that asked it has ended, and a reply not at all before: where
    what the reply led to was broken off, the step's journal tells that it has come. Raises StorageError for a
    checkpoint that is damaged, psycopg.Error.
    """
    saved = await saver.aget_tuple({"configurable": {"thread_id": thread_id}})
    writes = (saved and saved.pending_writes) or []
    asked = {task: _question(value) for task, channel, value in writes if channel == _ASKED}
    under_way = asked.keys() - finished_of(saved)
    begun = [
        attempts
        for task in under_way
        for attempts in step_attempts(entries_of(saved, task))
        if _was_begun_after(asked[task], attempts)
    ]
    return bool(under_way) and not begun


def _was_begun_after(question: Mapping[str, Any], call: Attempts) -> bool:
    """Whether a step has made its call since it asked this."""
    if call.outcome is not None:
        return True
    if not call.open or call.open != call.last:  # the tool itself asks, before it does anything
        return False
    if "unknown" in question:
        return again_word(call.open) not in (question.get("choices") or [])
    # A call that only reads is made again, and asked about again before.
    return question.get("effect") in ("write", "egress")


def _question(value: Any) -> Mapping[str, Any]:
    first = value[0] if isinstance(value, list | tuple) and value else value
    payload = first.value if isinstance(first, Interrupt) else None
    return payload if isinstance(payload, Mapping) else {}
