"""What the page of a run shows, from the thread's state; the exports are made of the same."""

from __future__ import annotations

from typing import Any

from forethought.app.report import report
from forethought.app.viewer.runs import Runs

Json = dict[str, Any]


async def run_data(runs: Runs, thread_id: str, checkpoint: str = "") -> Json:
    """The values of the page. Raises UnknownThread."""
    snapshot = await runs.snapshot(thread_id, checkpoint)
    running = await runs.is_running(thread_id)
    result = report(thread_id, snapshot, running=running)
    values = snapshot.values
    progress: Json = values.get("progress") or {}
    return {
        "thread_id": thread_id,
        "task": progress.get("task_text") or values.get("task") or "",
        "files": values.get("files") or [],
        "result": result,
        "values": values,
        "running": running,
    }
