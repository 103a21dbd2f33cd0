"""From a finished distillation to the file of planning errors and the record of their provenance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forethought.knowledge.error_file import free_file, write_errors
from forethought.knowledge.planning_errors import (
    Generated,
    Pattern,
    PlanningError,
    Provenance,
)
from forethought.knowledge.provenance import (
    provenance_path,
    read_provenance,
    used_question,
    write_provenance,
)

Json = dict[str, Any]


def write_distilled(path: Path, values: Mapping[str, Any], id: str, source: str | None) -> Path:
    """Write the errors of a distillation's state and the record of their provenance; where they stand now.

    That is `path`, or a file beside it where another distillation or a person has written there. Raises
    FileError.
    """
    tasks = [task["task"] for task in values["tasks"].values()]
    about = _distillation(values, source)
    return write_recorded(path, id, lambda date: _planning_errors(values, source, date), about, tasks)


def write_recorded(
    path: Path,
    id: str,
    errors: Callable[[str], Sequence[PlanningError]],
    about: Json,
    tasks: Sequence[str],
) -> Path:
    """Write the `errors` of a day and, beside the file, what they were made from. Raises FileError."""
    record = read_provenance(provenance_path(path))
    earlier: Json = next((item for item in record["distillations"] if item.get("id") == id), {})
    at = earlier.get("at") or datetime.now(UTC).isoformat(timespec="seconds")
    target = free_file(path, earlier.get("written") or {})
    written = {target.name: write_errors(target, errors(at[:10]))}
    others = [item for item in record["distillations"] if item.get("id") != id]
    this = {"id": id, "at": at, **about, "written": {**earlier.get("written", {}), **written}}
    used = [used_question(task) for task in tasks]
    record["questions"] = list({item["sha256"]: item for item in (*record["questions"], *used)}.values())
    record["distillations"] = [*others, this]
    for file in {path, target}:  # whichever of the two the agent is given, evaluations keep clear
        write_provenance(provenance_path(file), record)
    return target


def counts(values: Mapping[str, Any]) -> Json:
    """How many there were at each stage."""
    decisions = [decision["decision"] for decision in values.get("decisions") or []]
    diagnoses = values.get("diagnoses") or {}
    return {
        **(values.get("seen") or {}),
        "compared_runs": sum(len(task["runs"]) for task in (values.get("tasks") or {}).values()),
        "diagnosed_tasks": len(diagnoses),
        "entries": sum(len(item["entries"]) for item in diagnoses.values()),
        "new": decisions.count("new"),
        "merged": decisions.count("merge"),
        "discarded": decisions.count("discard"),
        "errors": len(values.get("errors") or {}),
        "with_patterns": len(values.get("patterns") or {}),
        "final": len(values.get("final") or {}),
    }


def _planning_errors(values: Mapping[str, Any], source: str | None, date: str) -> list[PlanningError]:
    """The final errors."""
    mark = Generated(model=values["models"]["model"], date=date)
    return [
        _planning_error(final, values, source).model_copy(update={"generated": mark})
        for final in values["final"].values()
    ]


def _planning_error(error: Mapping[str, Any], values: Mapping[str, Any], source: str | None) -> PlanningError:
    return PlanningError(
        name=error["name"],
        description=error["description"],
        failures=tuple(_pattern(item, values, source) for item in error["failures"]),
        successes=tuple(_pattern(item, values, source) for item in error["successes"]),
    )


def _pattern(item: Mapping[str, Any], values: Mapping[str, Any], source: str | None) -> Pattern:
    task = values["tasks"].get(item["task"])
    if task is None:
        return Pattern(text=item["text"])
    run = next(run for run in task["runs"] if run["label"] == item["run"])
    return Pattern(
        text=item["text"],
        provenance=Provenance(
            source=source or f"trajectories ({run['source'] or 'format unknown'})",
            file=run["file"] or None,
            trajectory=run["id"] or None,
            question=used_question(task["task"])["question"],
            outcome=run["outcome"],
        ),
    )


def _distillation(values: Mapping[str, Any], source: str | None) -> Json:
    """What the record says of one distillation."""
    return {
        "model": values["models"]["model"],
        "source": source or "",
        "counts": counts(values),
        "trajectories": [run["id"] for task in values["tasks"].values() for run in task["runs"]],
    }
