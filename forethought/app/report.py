"""The result of a task as the JSON object that `--json` prints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from forethought.app.errors import ANSWERED, FAILED, NOT_PASSED, WAITS

if TYPE_CHECKING:
    from langgraph.types import Interrupt, StateSnapshot

    from forethought.state.cost import CostRow

Json = dict[str, Any]
_EXIT_CODES = {
    "answered": ANSWERED,
    "best_effort": NOT_PASSED,
    "budget_exhausted": NOT_PASSED,
    "interrupted": WAITS,
}
_FOR_CHATS = ("action_requests", "review_configs")
"""What a question says once more in LangChain's form."""
_ERROR = re.compile(r"""\w+\((['"])(.*)\1,?\)""", re.DOTALL)
"""The repr of an exception that was given one text."""


class Report(TypedDict, total=False):
    """What `--json` prints of a task. Records are those of the state."""

    thread_id: str
    status: str
    """answered, best_effort, budget_exhausted, failed, stopped, interrupted or running."""
    answer: str
    sources: list[Json]
    """Steps that the answer rests on."""
    score: int | None
    """1 to 10; null without scoring."""
    evaluation: str
    """The answer's defects, one per line."""
    checks: list[Json]
    rounds: int
    stopped: str
    """The exhausted budget: steps, moves, tokens, usd or seconds."""
    plan: Json | None
    plan_reviews: list[Json]
    steps: list[Json]
    replans: list[Json]
    skipped: list[Json]
    usage: Json
    """Totals; `usd` is null if a price is unknown."""
    cost: list[CostRow]
    """By mechanism."""
    seconds: float
    """Active time."""
    experience: Json
    interrupts: list[Json]
    """Open questions, with the `id` for `--reply`."""
    error: str


def report(
    thread_id: str, snapshot: StateSnapshot, error: str | None = None, *, running: bool = False
) -> Json:
    """What became of the thread's present task, shaped as the channels are. `running`: by some process."""
    from forethought.nodes.support.budget import active_seconds
    from forethought.state.cost import cost_rows
    from forethought.state.reducers import with_statuses

    state: Mapping[str, Any] = {} if _is_untouched(snapshot) else snapshot.values
    task = (state.get("progress") or {}).get("task", 1)
    result: Report = {
        "thread_id": thread_id,
        "status": status_of(snapshot, error, running=running),
        "answer": state.get("answer") or "",
        "sources": list(state.get("sources") or []),
        "score": (state.get("draft") or {}).get("score") or None,
        "evaluation": (state.get("draft") or {}).get("evaluation", ""),
        "checks": (state.get("draft") or {}).get("checks", []),
        "rounds": (state.get("progress") or {}).get("round", 0),
        "stopped": (state.get("progress") or {}).get("stopped", ""),
        "plan": with_statuses(state).get("plan") or None,
        "plan_reviews": _of_task(state.get("plan_reviews"), task),
        "steps": sorted(_of_task(state.get("trajectory"), task), key=lambda step: step["n"]),
        "replans": _of_task(state.get("replans"), task),
        "skipped": _of_task(state.get("skipped"), task),
        "usage": usage_of(state),
        "cost": cost_rows(state),
        "seconds": round(active_seconds(state), 3),  # type: ignore[arg-type]
    }
    if state.get("experience"):
        result["experience"] = state["experience"]
    if snapshot.interrupts:
        result["interrupts"] = [waiting(item) for item in snapshot.interrupts]
    if error:
        result["error"] = error
    elif result["status"] == "failed":
        messages = state.get("messages") or []
        result["error"] = task_error(snapshot) or (str(messages[-1].text) if messages else "")
    return dict(result)


def _is_untouched(snapshot: StateSnapshot) -> bool:
    """Whether a new task waits for its first node, so that the state is still the earlier task's."""
    waits = {task.name for task in snapshot.tasks} & {"__start__", "planner"}
    return bool(waits) and snapshot.values.get("status", "running") != "running"


def status_of(snapshot: StateSnapshot, error: str | None = None, *, running: bool = False) -> str:
    """The task's status, with `interrupted` and `failed` as the thread stands.

    A task that was broken off (Ctrl-C, SIGTERM, a kill) is still `running` to the graph; here it is `stopped`
    unless some process is `running` it.
    """
    if snapshot.interrupts:
        return "interrupted"
    if error or task_error(snapshot):
        return "failed"
    status = "running" if unfinished(snapshot) else str(snapshot.values.get("status") or "running")
    return "stopped" if status == "running" and not running else status


def unfinished(snapshot: StateSnapshot) -> bool:
    """Whether the graph has something left to do on the thread.

    Not `next`: that leaves out tasks that are done but not yet taken over into a checkpoint, as a kill or a
    full disk can leave them.
    """
    return bool(snapshot.tasks)


def exit_code(status: str) -> int:
    """The exit code of a status."""
    return _EXIT_CODES.get(status, FAILED)


def waiting(interrupt: Interrupt[Any]) -> Json:
    """A question that waits: its payload and the id for the reply."""
    payload = interrupt.value
    if not isinstance(payload, Mapping):
        payload = {"kind": "question", "question": str(payload)}
    own = {name: value for name, value in payload.items() if name not in _FOR_CHATS}
    return {**own, "id": interrupt.id, "name": payload.get("id", "")}


def with_like(replies: Mapping[str, Json], questions: Sequence[Mapping[str, Any]]) -> dict[str, Json]:
    """The replies by interrupt id; an `approve all` also for the other calls of its tool that wait, which its
    question shows."""
    decisions = {question["id"]: replies.get(question["id"], {}).get("decision") for question in questions}
    tools = {q["tool"] for q in questions if decisions[q["id"]] == "approve all" and q.get("tool")}
    like = {q["id"]: {"decision": "approve all"} for q in questions if q.get("tool") in tools}
    return {**like, **replies}


def usage_of(state: Mapping[str, Any]) -> Json:
    """Usage summed over the roles.

    `usd` is null as soon as one call has no known price. `estimated` counts the calls whose tokens no
    provider told, `fallbacks` those that another model answered.
    """
    roles: Sequence[Mapping[str, Any]] = [usage for usage in (state.get("usage") or {}).values() if usage]
    names = (
        "calls",
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "usd",
        "unpriced",
        "estimated",
        "fallbacks",
    )
    total = {name: sum(usage.get(name, 0) for usage in roles) for name in names}
    usd = None if total.pop("unpriced") else round(float(total["usd"]), 6)
    rare = {name: count for name in ("estimated", "fallbacks") if (count := total.pop(name))}
    return {**total, "usd": usd, **rare}


def task_error(snapshot: StateSnapshot) -> str:
    """The error that broke the task off; '' for none or a cancellation."""
    return next((text for task in snapshot.tasks if (text := error_text(task.error))), "")


def error_text(error: Any) -> str:
    """A checkpoint's error, which is a repr, in its own words; '' for a cancellation."""
    text = str(error or "")
    if text.startswith("CancelledError("):
        return ""
    match = _ERROR.fullmatch(text)
    return match[2] if match else text


def _of_task(records: Sequence[Json] | None, task: int) -> list[Json]:
    return [dict(record) for record in records or [] if record.get("task", task) == task]
