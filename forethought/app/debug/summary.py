"""What several debugged runs have in common, and a table of them: by rules alone, from errors and labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from forethought.app.text import one_line
from forethought.prompts.debug_replies import NO_ERROR
from forethought.text import numbered
from forethought.trajectories.tool_errors import recurring_tool_errors
from forethought.trajectories.types import Loaded

Json = dict[str, Any]
_REPORTED = ("thread_id", "status", "critical", "error", "usage")
_COLUMNS = ("id", "task", "outcome", "steps", "halted")
_TASK = 50
"""Characters of a task that the table shows; an id that is cut could not be copied."""


def _row(run: Loaded) -> Json:
    """What a run's source tells of it."""
    trajectory = run.trajectory
    return {
        "id": trajectory.id,
        "task_id": trajectory.task_id,
        "task": trajectory.task,
        "outcome": run.reference.outcome,
        "steps": len(trajectory.steps),
        "halted": trajectory.halted,
    }


def summary(runs: Sequence[tuple[Loaded, Json]], succeeded: Sequence[Loaded] = ()) -> Json:
    """What recurs in these runs, and a row for each. With each run goes the report of its debugging ({}: it
    was not debugged); `succeeded` are other runs, which tool errors are looked for in."""
    trajectories = [run.trajectory for run, _ in runs]
    others = [run.trajectory for run in succeeded]
    reports = {run.trajectory.id: report for run, report in runs}
    return {
        "succeeded": len(succeeded),
        "recurring": {
            "tool_errors": [
                {
                    **asdict(error),
                    "replies": error.count,
                    "critical": sum(
                        _critical(reports[key]).get("critical_step") in steps
                        for key, steps in error.steps.items()
                    ),
                }
                for error in recurring_tool_errors(trajectories, others)
            ],
            "halted": [run.id for run in trajectories if run.halted],
            "error_types": _error_types(reports),
        },
        "runs": [
            {**_row(run), **{name: report[name] for name in _REPORTED if name in report}}
            for run, report in runs
        ],
    }


def _error_types(reports: Mapping[str, Json]) -> list[Json]:
    """Each error type that was found: the critical steps and the labelled steps, by run; those that are
    critical in the most runs first."""
    found: dict[tuple[str, str], Json] = {}

    def of(module: str, kind: str) -> Json:
        fresh: Json = {"module": module, "error_type": kind, "critical": {}, "labels": {}}
        return found.setdefault((module, kind), fresh)

    for key, report in reports.items():
        if critical := _critical(report):
            kind = of(critical["critical_module"], critical["error_type"])
            kind["critical"][key] = critical["critical_step"]
        for number, labels in sorted((report.get("labels") or {}).items(), key=lambda item: int(item[0])):
            for module, label in (labels or {}).items():
                if label["error_type"] != NO_ERROR:
                    kind = of(module, label["error_type"])
                    kind["labels"].setdefault(key, []).append(int(number))
    return sorted(found.values(), key=lambda each: (-len(each["critical"]), -len(each["labels"])))


def _critical(report: Json) -> Json:
    return report.get("critical") or {}


def summary_lines(result: Json) -> list[str]:
    """The summary for a person: first what recurs, then the runs."""
    rows = result["runs"]
    cells = [dict(zip(_COLUMNS, _COLUMNS, strict=True)), *map(_cells, rows)]
    widths = {name: max(len(row[name]) for row in cells) for name in _COLUMNS}
    lines = ["  ".join(row[name].ljust(width) for name, width in widths.items()) for row in cells]
    ends = ["", *map(_ending, rows)]
    table = [f"{line}  {end}".rstrip() for line, end in zip(lines, ends, strict=True)]
    return [*_recurring_lines(result["recurring"], len(rows), result["succeeded"]), "", *table]


def _cells(row: Json) -> dict[str, str]:
    task, halted = one_line(row["task"], _TASK), "halted" if row["halted"] else ""
    return {**{name: one_line(row[name]) for name in _COLUMNS}, "task": task, "halted": halted}


def _ending(row: Json) -> str:
    """What its debugging came to, if it was debugged."""
    if "status" not in row:
        return ""
    why = _place(row["critical"]) if row.get("critical") else one_line(row.get("error") or "", 100)
    return f"{row['status']}: {why}" if why else str(row["status"])


def _place(critical: Json) -> str:
    return f"step {critical['critical_step']}, {critical['critical_module']}: {critical['error_type']}"


def _recurring_lines(recurring: Json, count: int, succeeded: int) -> Iterator[str]:
    yield f"Recurring in {count} run{'s' * (count != 1)}:"
    errors = recurring["tool_errors"]
    found = [*_tool_lines(errors, count, succeeded), *_type_lines(recurring["error_types"], count)]
    if len(recurring["halted"]) > 1:
        found.append(f"{len(recurring['halted'])} of {count} runs: ended by a limit")
    yield from (f"  {line}" for line in found or ["no recurring errors found"])


def _tool_lines(errors: Sequence[Json], count: int, succeeded: int) -> Iterator[str]:
    for error in errors:
        counts = f"{error['replies']} of {error['calls']} calls"
        counts += f", {error['critical']} critical" if error["critical"] else ""
        counts += f"; {error['succeeded']} of {succeeded} that succeeded" if succeeded else ""
        tool = f"{one_line(error['tool'], 40)} replies" if error["tool"] else "a reply says"
        reply = one_line(error["reply"], 120)
        yield f'{len(error["steps"])} of {count} runs ({counts}): {tool} "{reply}"'


def _type_lines(types: Sequence[Json], count: int) -> Iterator[str]:
    for kind in types:
        where, labelled = kind["critical"], len(kind["labels"])
        if len(where) < 2 and labelled < 2:
            continue
        at = f"critical (at {numbered('step', where.values())})"
        what = at if len(where) > 1 else "among the labels"
        runs = len(where) if len(where) > 1 else labelled
        yield f"{runs} of {count} runs: {kind['module']}, {kind['error_type']} is {what}"
