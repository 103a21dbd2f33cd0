"""Which task of its thread is a job's: a person may give the thread others, before it or after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from langchain_core.messages import HumanMessage
from langgraph.graph import START

from forethought.batch.outcomes import Ended, of_state
from forethought.text import sanitize_text

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from forethought.storage.saver import ThreadSaver


async def is_asked(saver: ThreadSaver, snapshot: StateSnapshot, task: str) -> bool:
    """Whether `task` is what the thread in this state was asked last: also where that was broken off before
    the state had taken it over. Raises StorageError, psycopg.Error."""
    if not is_given(snapshot):
        return is_present(snapshot.values, task)
    saved = await saver.aget_tuple(snapshot.config)
    given = saved.checkpoint["channel_values"].get(START) if saved else None
    return isinstance(given, Mapping) and _same(given.get("task"), task)


def is_given(snapshot: StateSnapshot) -> bool:
    """Whether a task is about to be taken over into this state, which is still that of the one before."""
    return any(task.name == START for task in snapshot.tasks)


def is_present(values: Mapping[str, Any], task: str) -> bool:
    """Whether `task` is the one that this state of a thread is of."""
    return _same(values.get("task"), task)


def has_begun(values: Mapping[str, Any], task: str) -> bool:
    """Whether what a thread with this state has spent is what `task` has cost so far."""
    return is_present(values, task) and _same((values.get("progress") or {}).get("asked"), task)


def ended_of(snapshot: StateSnapshot, task: str) -> Ended | None:
    """How a job ended whose task this is; None where the thread has no end of it, but another task."""
    if is_present(snapshot.values, task):
        return of_state(snapshot)
    for earlier in reversed((snapshot.values.get("progress") or {}).get("earlier") or []):
        if _same(earlier.get("task"), task):
            return Ended("done", str(earlier.get("status") or ""))
    return None


def why_not_next(snapshot: StateSnapshot, task: str, thread_id: str) -> str:
    """Why a thread that has another task cannot be given `task` as its next one; '' where it can."""
    if snapshot.tasks:
        return (
            "its thread has another task, which has not ended: end that with forethought resume "
            f"{thread_id}, then: forethought jobs --retry"
        )
    if _has_called_tools(snapshot.values, task):
        return (
            "its thread has another task by now, so that it cannot be gone on with; it is not begun anew, "
            "since it has called tools: submit the task with another id"
        )
    return ""


def _has_called_tools(values: Mapping[str, Any], task: str) -> bool:
    # See `nodes.task.begin_task`.
    ids = {
        message.id
        for message in values.get("messages") or []
        if isinstance(message, HumanMessage) and _same(str(message.text), task)
    }
    steps = values.get("trajectory") or []
    return any(step.get("tool") and f"task-{step.get('task')}" in ids for step in steps)


def _same(text: Any, task: str) -> bool:
    return isinstance(text, str) and sanitize_text(text).strip() == sanitize_text(task).strip()
