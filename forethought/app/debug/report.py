"""The result of a debugging as one JSON object, read from the state: what `debug --json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from forethought.app.errors import ANSWERED, FAILED, NOT_PASSED, WAITS
from forethought.app.report import status_of, task_error, usage_of, waiting

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

Json = dict[str, Any]


def debug_report(
    thread_id: str, snapshot: StateSnapshot, method: str, seconds: float, error: str | None = None
) -> Json:
    """What a debugging found and what its re-runs came to, shaped as the channels are.

    `seconds` are those from its first checkpoint to its last.
    """
    state: Mapping[str, Any] = snapshot.values
    subject: Mapping[str, Any] = state.get("subject") or {}
    status = status_of(snapshot, error)
    result: Json = {
        "thread_id": thread_id,
        "subject": {
            "id": subject.get("id", ""),
            "task": subject.get("task", ""),
            "source": subject.get("source", ""),
            "steps": len(subject.get("steps") or []),
        },
        "status": status,
        "method": method,
        "critical": state.get("critical") or None,
        "labels": state.get("labels") or {},
        "label_problems": state.get("label_problems") or {},
        "probes": list(state.get("probes") or []),
        "branches": list(state.get("branches") or []),
        "verdict": state.get("verdict") or None,
        "usage": usage_of(state),
        "notes": list(state.get("notes") or []),
        "seconds": round(seconds, 3),
    }
    if snapshot.interrupts:
        result["interrupts"] = [waiting(item) for item in snapshot.interrupts]
    if problem := error or task_error(snapshot) or state.get("problem"):
        result["error"] = problem
    return result


def debug_exit_code(status: str) -> int:
    """The exit code of a debugging's status."""
    return {
        "fixed": ANSWERED,
        "found": ANSWERED,
        "successful": ANSWERED,
        "not_fixed": NOT_PASSED,
        "not_found": NOT_PASSED,
        "interrupted": WAITS,
    }.get(status, FAILED)
