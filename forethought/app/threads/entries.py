"""The list of threads: each as a record, from its last checkpoint."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from forethought.app.report import error_text, usage_of
from forethought.app.text import one_line
from forethought.app.threads.thread import DEBUGGING, is_debugging
from forethought.storage.errors import StorageError

if TYPE_CHECKING:
    from langgraph.checkpoint.base import CheckpointTuple

    from forethought.storage.saver import ThreadSaver

Json = dict[str, Any]
_WIDTH = 80
LONGEST = 10_000
"""Characters of a task or an answer that a search looks at."""
DAMAGED = "damaged"
"""Status of a thread that cannot be read."""
LEARNING = ("distill:", "synthesize:")
"""Prefixes of the ids of distillations and syntheses, where all share one database."""


async def list_threads(
    saver: ThreadSaver, limit: int, debuggings: bool = False, width: int = _WIDTH
) -> list[Json]:
    """The newest `limit` threads, as `entry` makes them.

    Debuggings, which are threads of the debugger's graph, only where they are asked for.
    """
    ids = await saver.newest(limit, LEARNING if debuggings else (DEBUGGING, *LEARNING))
    locked = await saver.locked_threads(ids)
    entries = [await _read(saver, thread_id, thread_id in locked, width) for thread_id in ids]
    return [entry for entry in entries if entry is not None]


async def add_seconds(
    entries: Sequence[Json], state_of: Callable[[str], Awaitable[Mapping[str, Any]]]
) -> None:
    """Set `seconds` of the entries, as `show` tells them: null for debuggings and damaged threads.

    The last checkpoint alone does not hold the steps, so `state_of` gives the whole state of a thread (2 ms
    for one of three steps).
    """
    from forethought.nodes.support.budget import active_seconds

    for one in entries:
        known = one["status"] != DAMAGED and not is_debugging(one["thread_id"])
        state: Any = await state_of(one["thread_id"]) if known else None
        one["seconds"] = round(active_seconds(state), 3) if known else None


async def _read(saver: ThreadSaver, thread_id: str, is_locked: bool, width: int) -> Json | None:
    """A thread as it is listed; None where it was deleted a moment ago."""
    try:
        latest = await saver.aget_tuple({"configurable": {"thread_id": thread_id}})
    except StorageError as error:
        return {**entry(thread_id, "", DAMAGED, {}), "task": one_line(error, 300)}
    if latest is None:
        return None
    values: Json = latest.checkpoint["channel_values"]
    status = "running" if is_locked else _status(values, latest)
    return entry(thread_id, latest.checkpoint["ts"], status, values, width)


def entry(thread_id: str, time: str, status: str, values: Mapping[str, Any], width: int = _WIDTH) -> Json:
    """A thread as it is listed, from the channels of its newest state.

    {thread_id, time (ISO 8601; '' unknown), status, task, answer (`width` characters), score (0 to 10 or
    null), tokens, usd (null where a price is unknown), steps, debugs (the thread that it debugs)}.
    """
    progress, start, subject = (values.get(name) or {} for name in ("progress", "__start__", "subject"))
    task = progress.get("task_text") or start.get("task") or values.get("task") or subject.get("task")
    answer = values.get("answer") or (values.get("critical") or {}).get("error_type")
    usage = usage_of(values)
    return {
        "thread_id": thread_id,
        "time": time,
        "status": status,
        "task": one_line(task or "", width),
        "answer": one_line(answer or "", width),
        "score": (values.get("draft") or {}).get("score") or None,
        "tokens": usage["input_tokens"] + usage["output_tokens"],
        "usd": usage["usd"],
        "steps": progress.get("n", 0) - progress.get("base_n", 0),
        "debugs": values.get("thread") or "",
    }


def _status(values: Mapping[str, Any], latest: CheckpointTuple) -> str:
    """The status of a thread that no process runs."""
    from forethought.journal import is_waiting

    if is_waiting(latest):
        return "interrupted"
    writes = latest.pending_writes or []
    if any(channel == "__error__" and error_text(value) for _, channel, value in writes):
        return "failed"
    status = str(values.get("status") or "running")
    return "stopped" if status == "running" or "__start__" in values else status
