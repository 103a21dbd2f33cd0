"""The result of a task as one JSON object, read from the state: what `--json` prints."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.types import Interrupt, StateSnapshot

from forethought.app.errors import ANSWERED, FAILED, NOT_PASSED, WAITS
from forethought.nodes.support.budget import active_seconds
from forethought.state.reducers import with_statuses

Json = dict[str, Any]
_ERROR = re.compile(r"""\w+\(('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"),?\)""", re.DOTALL)
"""The repr of an exception that was given one text."""


def report(thread_id: str, snapshot: StateSnapshot, error: str | None = None) -> Json:
    """What became of the thread's present task, shaped as the channels are."""
    state: Mapping[str, Any] = snapshot.values
    task = (state.get("progress") or {}).get("task", 1)
    result: Json = {
        "thread_id": thread_id,
        "status": status_of(snapshot, error),
        "answer": state.get("answer") or "",
        "sources": list(state.get("sources") or []),
        "score": (state.get("draft") or {}).get("score"),
        "rounds": (state.get("progress") or {}).get("round", 0),
        "plan": with_statuses(state).get("plan") or None,
        "plan_reviews": _of_task(state.get("plan_reviews"), task),
        "steps": sorted(_of_task(state.get("trajectory"), task), key=lambda step: step["n"]),
        "replans": _of_task(state.get("replans"), task),
        "usage": usage_of(state),
        "seconds": round(active_seconds(snapshot.values), 3),  # type: ignore[arg-type]
    }
    if state.get("lessons"):
        result["lessons"] = state["lessons"]
    if snapshot.interrupts:
        result["interrupts"] = [waiting(item) for item in snapshot.interrupts]
    if error:
        result["error"] = error
    elif result["status"] == "failed":
        result["error"] = _said(snapshot)
    return result


def status_of(snapshot: StateSnapshot, error: str | None = None) -> str:
    """The task's status: `interrupted` while it waits for a person, `failed` after an error; else its own.

    A task that was broken off (Ctrl-C, a kill) is still `running` to the graph.
    """
    if snapshot.interrupts:
        return "interrupted"
    if error or task_error(snapshot):
        return "failed"
    return "running" if unfinished(snapshot) else str(snapshot.values.get("status") or "running")


def unfinished(snapshot: StateSnapshot) -> bool:
    """Whether the graph has something left to do on the thread.

    Not `next`: that leaves out tasks that are done but not yet taken over into a checkpoint, as a kill or a
    full disk can leave them.
    """
    return bool(snapshot.tasks)


def exit_code(status: str) -> int:
    """The exit code of a status."""
    return {
        "answered": ANSWERED,
        "best_effort": NOT_PASSED,
        "budget_exhausted": NOT_PASSED,
        "interrupted": WAITS,
    }.get(status, FAILED)


def waiting(interrupt: Interrupt[Any]) -> Json:
    """A question that waits for a person: its payload under the id that a reply must name."""
    payload = interrupt.value
    if not isinstance(payload, Mapping):
        payload = {"kind": "question", "question": str(payload)}
    return {**payload, "id": interrupt.id, "name": payload.get("id", "")}


def usage_of(state: Mapping[str, Any]) -> Json:
    """Usage summed over the roles. `usd` is null as soon as one call has no known price; `estimated` counts
    the calls whose tokens no provider told, `fallbacks` those that another model answered, where there are
    any."""
    roles: Sequence[Mapping[str, Any]] = [usage for usage in (state.get("usage") or {}).values() if usage]

    def total(key: str) -> Any:
        return sum(usage.get(key, 0) for usage in roles)

    return {
        "calls": total("calls"),
        "input_tokens": total("input_tokens"),
        "output_tokens": total("output_tokens"),
        "cached_tokens": total("cached_tokens"),
        "usd": None if total("unpriced") else round(float(total("usd")), 6),
        **{name: count for name in ("estimated", "fallbacks") if (count := total(name))},
    }


def task_error(snapshot: StateSnapshot) -> str:
    """The error that broke the task off; '' if none did (cancelled siblings and Ctrl-C are no errors)."""
    return next((text for task in snapshot.tasks if (text := error_text(task.error))), "")


def error_text(error: Any) -> str:
    """An error as it is kept with a checkpoint (its repr) in its own words; '' for a cancellation.

    Its words are one string; whatever else is kept there is shown as it is.
    """
    text = str(error or "")
    if text.startswith("CancelledError("):
        return ""
    found = _ERROR.fullmatch(text)
    try:
        return str(ast.literal_eval(found[1])) if found else text
    except (ValueError, SyntaxError):
        return text


def _said(snapshot: StateSnapshot) -> str:
    """Why there is no answer: the error, or what the graph said when it gave up."""
    messages = snapshot.values.get("messages") or []
    return task_error(snapshot) or (str(messages[-1].text) if messages else "")


def _of_task(records: Sequence[Json] | None, task: int) -> list[Json]:
    return [dict(record) for record in records or [] if record.get("task", task) == task]
