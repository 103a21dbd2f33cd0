"""Threads as they are kept: what a thread was run with, and the list of them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.app.database import is_claimed
from forethought.app.options import without_userinfo
from forethought.app.report import error_text
from forethought.app.text import one_line

if TYPE_CHECKING:
    from langgraph.checkpoint.base import CheckpointTuple
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    from forethought.settings import Settings
    from graph.context import Context

Json = dict[str, Any]
_SAVED = "forethought"
"""Key of a checkpoint's metadata that holds, as JSON text, what the thread is run with."""
_HEAD = 80
DEBUGGING = "debug:"
"""How the ids of debuggings begin: threads of the debugger's graph, in the same database."""


def new_thread_id() -> str:
    """A short new id that sorts by day: 20260517-3f9a1c."""
    return f"{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(3)}"


def is_debugging(thread_id: str) -> bool:
    """Whether a thread is one of the debugger's graph."""
    return thread_id.startswith(DEBUGGING)


def saved_with(context: Context, settings: Settings) -> Json:
    """The metadata of every checkpoint of a run, from which `resume` reads Context, address and tools."""
    kept = {
        "context": context.model_dump(mode="json"),
        "base_url": without_userinfo(settings.base_url),
        "tools": settings.tools,
    }
    return {_SAVED: json.dumps(kept, ensure_ascii=False)}


def saved_of(metadata: Mapping[str, Any] | None) -> Json:
    """What `saved_with` kept; empty for another program's thread. Settings of other releases are dropped."""
    from graph.context import Context

    text = (metadata or {}).get(_SAVED)
    kept: Json = json.loads(text) if isinstance(text, str) else {}
    kept["context"] = {
        key: value for key, value in (kept.get("context") or {}).items() if key in Context.model_fields
    }
    return kept


async def list_threads(
    saver: AsyncSqliteSaver, path: Path, limit: int, debuggings: bool = False
) -> list[Json]:
    """The newest `limit` threads: {thread_id, time, status, task, answer}, from its last checkpoint.

    Debuggings, which are threads of the debugger's graph, only where they are asked for.
    """
    query = (
        "SELECT thread_id, MAX(checkpoint_id) AS newest FROM checkpoints WHERE checkpoint_ns = '' "
        "AND (? OR substr(thread_id, 1, ?) != ?) GROUP BY thread_id ORDER BY newest DESC LIMIT ?"
    )
    given = (debuggings, len(DEBUGGING), DEBUGGING, limit)
    async with saver.conn.execute(query, given) as cursor:
        ids = [row[0] for row in await cursor.fetchall()]
    found = [await saver.aget_tuple({"configurable": {"thread_id": thread_id}}) for thread_id in ids]
    return [_entry(thread_id, item, path) for thread_id, item in zip(ids, found, strict=True) if item]


def _entry(thread_id: str, saved: CheckpointTuple, path: Path) -> Json:
    values = saved.checkpoint["channel_values"]
    given = values.get("__start__") or {}
    return {
        "thread_id": thread_id,
        "time": saved.checkpoint["ts"],
        "status": _status(thread_id, values, saved, path),
        "task": one_line(
            (values.get("progress") or {}).get("asked")
            or given.get("task")
            or values.get("task")
            or (values.get("subject") or {}).get("task"),
            _HEAD,
        ),
        "answer": one_line(values.get("answer") or _found(values.get("critical") or {}), _HEAD),
    }


def _found(critical: Json) -> str:
    """What a debugging found, in the place of an answer."""
    if not critical:
        return ""
    where = f"step {critical.get('critical_step')}, {critical.get('critical_module')}"
    return f"{where}: {critical.get('error_type')}"


def _status(thread_id: str, values: Mapping[str, Any], saved: CheckpointTuple, path: Path) -> str:
    """As the graph says; a thread neither finished nor held is interrupted, failed or stopped."""
    if is_claimed(path, thread_id):
        return "running"
    writes = saved.pending_writes or []
    if any(channel == "__interrupt__" for _, channel, _ in writes):
        return "interrupted"
    if any(channel == "__error__" and error_text(value) for _, channel, value in writes):
        return "failed"
    status = str(values.get("status") or "running")
    return "stopped" if status == "running" or "__start__" in values else status
