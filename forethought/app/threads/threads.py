"""Threads as they are kept: what a thread was run with, and the list of them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from forethought.app.report import error_text
from forethought.app.text import one_line
from forethought.storage.errors import StorageError

if TYPE_CHECKING:
    from langgraph.checkpoint.base import CheckpointTuple

    from forethought.storage.saver import ThreadSaver

Json = dict[str, Any]
_HEAD = 80
DEBUGGING = "debug:"
"""How the ids of debuggings begin: threads of the debugger's graph, in the same database."""

DAMAGED = "damaged"
"""Status of a thread that cannot be read."""
LEARNING = ("distill:", "synthesize:")
"""How the ids of distillations and syntheses begin: threads of their graphs, where all share one database."""


def new_thread_id() -> str:
    """A short new id that sorts by day: 20260517-3f9a1c."""
    return f"{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(3)}"


def is_debugging(thread_id: str) -> bool:
    """Whether a thread is one of the debugger's graph."""
    return thread_id.startswith(DEBUGGING)


async def list_threads(saver: ThreadSaver, limit: int, debuggings: bool = False) -> list[Json]:
    """The newest `limit` threads: {thread_id, time, status, task, answer}, from its last checkpoint.

    Debuggings, which are threads of the debugger's graph, only where they are asked for.
    """
    ids = await saver.newest(limit, LEARNING if debuggings else (DEBUGGING, *LEARNING))
    held = await saver.locked_threads(ids)
    found = [await listed(saver, thread_id, thread_id in held) for thread_id in ids]
    return [item for item in found if item is not None]


async def listed(saver: ThreadSaver, thread_id: str, held: bool) -> Json | None:
    """A thread as it is listed; one that cannot be read is `damaged`, and the others are listed all the same.

    `held`: some process runs it now. None where it was deleted a moment ago.
    """
    try:
        saved = await saver.aget_tuple({"configurable": {"thread_id": thread_id}})
        return _entry(thread_id, saved, held) if saved else None
    except StorageError as error:
        return {
            "thread_id": thread_id, "time": "", "status": DAMAGED, "task": one_line(error, 300), "answer": "",
        }  # fmt: skip


def _entry(thread_id: str, saved: CheckpointTuple, held: bool) -> Json:
    values = saved.checkpoint["channel_values"]
    given = _part(values, "__start__")
    return {
        "thread_id": thread_id,
        "time": saved.checkpoint["ts"],
        "status": _status(values, saved, held),
        "task": one_line(
            _part(values, "progress").get("asked")
            or given.get("task")
            or values.get("task")
            or _part(values, "subject").get("task"),
            _HEAD,
        ),
        "answer": one_line(values.get("answer") or _found(_part(values, "critical")), _HEAD),
    }


def _part(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A channel that holds an object; another form is looked at where the thread is opened."""
    value = values.get(name)
    return value if isinstance(value, Mapping) else {}


def _found(critical: Mapping[str, Any]) -> str:
    """What a debugging found, in the place of an answer."""
    if not critical:
        return ""
    where = f"step {critical.get('critical_step')}, {critical.get('critical_module')}"
    return f"{where}: {critical.get('error_type')}"


def _status(values: Mapping[str, Any], saved: CheckpointTuple, held: bool) -> str:
    """As the graph says; a thread neither finished nor held is interrupted, failed or stopped."""
    from forethought.journal import is_waiting

    if held:
        return "running"
    if is_waiting(saved):
        return "interrupted"
    writes = saved.pending_writes or []
    if any(channel == "__error__" and error_text(value) for _, channel, value in writes):
        return "failed"
    status = str(values.get("status") or "running")
    return "stopped" if status == "running" or "__start__" in values else status
