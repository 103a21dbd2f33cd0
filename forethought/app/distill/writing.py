"""From a finished distillation to the file of planning errors and the record of their provenance."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forethought.knowledge.error_file import Merged, write_errors
from forethought.knowledge.planning_errors import (
    Generated,
    Pattern,
    PlanningError,
    Provenance,
    load_planning_errors,
)
from forethought.knowledge.provenance import (
    provenance_path,
    read_provenance,
    used_question,
    write_provenance,
)

Json = dict[str, Any]


def planning_errors(values: Mapping[str, Any], source: str | None, date: str) -> list[PlanningError]:
    """The errors of a distillation's state, each with a hash of what the model wrote."""
    from forethought.nodes.distiller.review import generated

    written = generated(values)  # type: ignore[arg-type]
    model = values["models"]["model"]
    errors = []
    for name, final in values["final"].items():
        before = _error(written[name], values, source)
        mark = Generated(hash=before.text_hash(), model=model, date=date)
        if final["by"] == "person" and _error(final, values, source).text_hash() == mark.hash:
            final = {**final, "by": "model"}
        errors.append(_error(final, values, source).model_copy(update={"generated": mark}))
    return errors


def write_distilled(
    path: Path, values: Mapping[str, Any], id: str, source: str | None
) -> tuple[Merged, Json]:
    """Merge the errors of a distillation into the file at `path` and record where they come from.

    Returns what became of each error, and the record. Raises FileError; the file of errors is then as
    it was.
    """
    record = read_provenance(provenance_path(path))
    known = next((item for item in record["distillations"] if item.get("id") == id), None)
    at = (known or {}).get("at") or datetime.now(UTC).isoformat(timespec="seconds")
    errors = planning_errors(values, source, at[:10])
    there = {error.name for error in load_planning_errors(path)} if path.exists() else set()
    removed = set(record["written"]) - there if there else set()
    merged = write_errors(path, errors, removed, reviewed_away(values))
    entry = _distillation(values, id, at, source, merged)
    record["distillations"] = [
        entry if item.get("id") == id else item for item in record["distillations"]
    ] + ([] if known else [entry])
    questions = {item["sha256"]: item for item in record["questions"]}
    for task in values["tasks"].values():
        question = used_question(task["task"])
        questions.setdefault(question["sha256"], question)
    record["questions"] = list(questions.values())
    hashes = {error.name: error.generated.hash for error in errors if error.generated}
    record["written"] |= {name: hashes[name] for name in (*merged.added, *merged.replaced)}
    for written in {path, merged.path}:  # whichever of the two the agent is given, evaluations keep clear
        write_provenance(provenance_path(written), record)
    return merged, entry


def reviewed_away(values: Mapping[str, Any]) -> set[str]:
    """Names that a person has dropped, merged into another or changed in the review: where the file has them
    as they were generated, they go."""
    from forethought.nodes.distiller.review import generated

    return set(generated(values)) - {final["name"] for final in values["final"].values()}  # type: ignore[arg-type]


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


def _error(record: Mapping[str, Any], values: Mapping[str, Any], source: str | None) -> PlanningError:
    failures = tuple(_pattern(item, values, source) for item in record["failures"])
    successes = tuple(_pattern(item, values, source) for item in record["successes"])
    return PlanningError(
        name=record["name"], description=record["description"], failures=failures, successes=successes
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


def _distillation(values: Mapping[str, Any], id: str, at: str, source: str | None, merged: Merged) -> Json:
    """What the record says of one distillation."""
    entries = {entry["key"]: entry for item in values["diagnoses"].values() for entry in item["entries"]}
    tasks = values["tasks"]
    errors = {}
    for final in values["final"].values():
        of_error = [entries[key] for key in final["entries"]]
        errors[final["name"]] = {
            "by": final["by"],
            "findings": [
                {
                    "question": used_question(tasks[entry["task"]]["task"])["sha256"],
                    "type": entry["error_type"],
                    "trajectories": _cited(entry, tasks[entry["task"]]),
                }
                for entry in of_error
            ],
        }
    return {
        "id": id,
        "at": at,
        "model": values["models"]["model"],
        "source": source or "",
        "counts": counts(values),
        "trajectories": [
            {
                "id": run["id"],
                "outcome": run["outcome"],
                "file": run["file"],
                "question": used_question(task["task"])["sha256"],
            }
            for task in tasks.values()
            for run in task["runs"]
        ],
        "errors": errors,
        "not_written": {"a person's": merged.kept, "taken out by a person": merged.removed},
    }


def _cited(entry: Mapping[str, Any], task: Mapping[str, Any]) -> list[str]:
    """Ids of the trajectories that the evidence is from."""
    named = {item["run"] for item in (*entry["failure_evidence"], *entry["success_evidence"])}
    return [run["id"] for run in task["runs"] if run["label"] in named]
