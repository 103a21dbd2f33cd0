"""What the page of a run shows, from the thread's state; the exports are made of the same."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from forethought.app.report import report
from forethought.app.threads.branches import branches_of_tree
from forethought.app.threads.thread import is_debugging
from forethought.app.viewer.plan_history import plan_versions
from forethought.app.viewer.readings import reading_progress, rows_by_step
from forethought.app.viewer.runs import Threads
from forethought.app.viewer.timeline import timeline
from forethought.models.allowance import total

Json = dict[str, Any]
_PASSAGE = 6
"""Lines of an observation that are shown beside the answer."""
_DEBUGGINGS = 5
"""Most debuggings of a thread that its page shows."""
_ROLES = {
    "planner": ("planner", "plan_intra", "replanning"),
    "tool agent": ("tool", "tool_intra"),
    "answer agent": ("answer", "answer_intra", "answer_checks"),
}
"""Keys of `usage` under which a role is booked that has several."""
_DOING = {
    "planner": "The planner is thinking.",
    "prospective_reflector": "The reflector is examining the plan.",
    "replan_trigger": "The next subtasks are starting.",
    "tool_agent": "The agent is working on {}.",
    "tool_executor": "Tools are running for {}.",
    "answer_agent": "The answer is being written.",
}
_WORDS = re.compile(r"\d[\d.,]*\d|\w{4,}")


async def run_data(
    runs: Threads,
    thread_id: str,
    checkpoint: str = "",
    *,
    step: int = 0,
    page: int = 0,
    version: int = 0,
    whole: bool = False,
) -> Json:
    """The values of `run.html.j2`. Raises UnknownThread.

    `step` and `page` choose a page of the timeline, `version` a version of the plan; `whole`: all of them on
    one page that asks for nothing, as an export is.
    """
    snapshot = await runs.snapshot(thread_id, checkpoint)
    running = not checkpoint and await runs.is_running(thread_id)
    result = report(thread_id, snapshot, running=running)
    values = snapshot.values
    progress: Json = values.get("progress") or {}
    long_term = values.get("long_term") or {}
    tree = {} if whole else await runs.tree(thread_id)
    versions = plan_versions(await runs.plans(thread_id, checkpoint), result, progress.get("base_n", 0))
    shown = timeline(result, values, step=step, page=page, whole=whole)
    told = await asyncio.to_thread(reading_progress, runs.files, thread_id) if running else ""
    return {
        "thread_id": thread_id,
        "task": progress.get("task_text") or values.get("task") or "",
        "earlier": progress.get("earlier") or [],
        "files": [*(values.get("files") or []), *(values.get("folders") or [])],
        "guidance": values.get("guidance") or [],
        "result": result,
        "checks": result["checks"],
        "sources": _sources(result, values.get("trajectory") or []),
        "versions": versions,
        "version": _chosen(versions, version),
        "waves": _waves(result["steps"]),
        "active": under_way(values) if running else set(),
        "timeline": shown,
        "readings": await asyncio.to_thread(rows_by_step, runs.files, shown["entries"]),
        "short_term": {
            key: one for key, one in (values.get("short_term") or {}).items() if any(one.values())
        },
        "long_term": {
            number: one for number, one in long_term.items() if "score" in one or one.get("failures")
        },
        "roles": _by_role(values.get("usage") or {}),
        "running": running,
        "doing": f"{doing(snapshot.next, under_way(values))}{told}" if running else "",
        "whole": whole,
        "checkpoint": checkpoint,
        "branches": len(branches_of_tree(tree)),
        "debuggings": await debuggings(runs, thread_id),
        "query": {"checkpoint": checkpoint, "version": version or "", "page": page or ""},
    }


def _chosen(versions: Sequence[Json], version: int) -> Json | None:
    """The version asked for; by default the newest that the reflector has changed, or else the newest."""
    named = [one for one in versions if one["version"] == version]
    changed = [one for one in versions if one["by"] == "reflector"]
    found = named or changed or versions
    return found[-1] if found else None


def _waves(steps: Sequence[Mapping[str, Any]]) -> dict[str, Json]:
    """By subtask: its first and last wave, and the numbers of its steps."""
    waves: dict[str, Json] = {}
    for step in steps:
        one = waves.setdefault(step["subtask"], {"first": step["wave"], "steps": []})
        one["last"] = step["wave"]
        one["steps"].append(step["n"])
    return waves


def under_way(values: Mapping[str, Any]) -> set[str]:
    """The subtasks of the present wave whose step is still to be recorded."""
    recorded = {step["n"] for step in values.get("trajectory") or []}
    return {one["subtask"] for one in values.get("dispatch") or [] if one["n"] not in recorded}


def doing(nodes: Sequence[str], active: Collection[str]) -> str:
    """What a running task does now, by the nodes of its graph that are due."""
    words = _DOING.get(nodes[0] if nodes else "", "The run is starting.")
    return words.format(", ".join(sorted(active)) or "the subtasks")


def _by_role(usage: Mapping[str, Any]) -> dict[str, Any]:
    """What each role's model spent, whatever mechanism asked it."""
    own = {key: role for role, keys in _ROLES.items() for key in keys}
    spent: dict[str, list[Any]] = {}
    for key, one in usage.items():
        if one.get("calls"):
            spent.setdefault(own.get(key, key), []).append(one)
    return {role: total(*records) for role, records in spent.items()}


def _sources(result: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> list[Json]:
    """The answer's sources, each with the lines of its step that are closest to the answer."""
    by_number = {step["n"]: step for step in steps}
    return [
        {
            **source,
            "passage": passage(str(by_number[source["n"]]["observation"]), result["answer"]),
        }
        if source["n"] in by_number
        else {**source, "passage": []}
        for source in result["sources"]
    ]


def passage(observation: str, answer: str, lines: int = _PASSAGE) -> list[Json]:
    """The lines in a row that share most words and figures with the answer: {line, text, shared}."""
    wanted = set(_WORDS.findall(answer.casefold()))
    texts = observation.splitlines()
    shared = [len(wanted & set(_WORDS.findall(text.casefold()))) for text in texts]
    starts = range(max(1, len(texts) - lines + 1))
    best = max(starts, key=lambda start: sum(shared[start : start + lines]), default=0)
    found = list(zip(texts, shared, strict=True))[best : best + lines]
    return [
        {"line": best + at + 1, "text": text, "shared": count > 0} for at, (text, count) in enumerate(found)
    ]


async def debuggings(runs: Threads, thread_id: str) -> list[Json]:
    """The reports on the newest debuggings of a thread, newest first."""
    ids = [] if is_debugging(thread_id) else await runs.debuggings(thread_id)
    return [await debugging_data(runs, name) for name in ids[: -_DEBUGGINGS - 1 : -1]]


async def debugging_data(runs: Threads, thread_id: str) -> Json:
    """The report on a debugging, with the thread that it debugs. Raises UnknownThread."""
    from forethought.app.debug.session import saved_request
    from forethought.app.debug.view import debug_report

    snapshot = await runs.snapshot(thread_id)
    request = saved_request(snapshot.metadata)
    running = await runs.is_running(thread_id)
    return {**debug_report(thread_id, request, snapshot, running=running), "debugged": request.thread or ""}
