"""What a finished synthesis is used for without training: guidance, advice or planning errors.

All three come from the macro level: what recurs in an error type across tasks (SAMULE 3.2.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from forethought.app.distill_file import write_recorded
from forethought.experience.advice import Advice, advice_id
from forethought.experience.book import Book
from forethought.knowledge.planning_errors import (
    BRIEF_FAILURES,
    Generated,
    Pattern,
    PlanningError,
    Provenance,
)
from forethought.knowledge.provenance import used_question
from forethought.nodes.synthesizer.leaks import References
from forethought.nodes.synthesizer.meso import error_path
from forethought.text import one_line

Json = dict[str, Any]
_APPLIES_CHARS = 300
_PART_CHARS = 1_000
_SOURCE = "trajectories"
"""Where the text of an advice comes from, which a person has to confirm."""


def guidance_text(values: Mapping[str, Any]) -> str:
    """The reflections on error types as guidance for a run, most frequent first."""
    return "\n\n".join(made["reflection"] for _, made in _reflected(values)) + "\n"


async def keep_advice(
    values: Mapping[str, Any], id: str, book: Book, scrub: Callable[[str], str], now: datetime
) -> list[Advice]:
    """Keep each reflection on an error type as an advice, in quarantine; those that are new."""
    kept = []
    for number, (error, made) in enumerate(_reflected(values), 1):
        tasks = dict.fromkeys(values["tasks"][trial["task"]]["task"] for trial in _cited(values, made))
        advice = Advice(
            id=advice_id(id, number),
            name=error["name"][:60],
            kind="error",
            applies=scrub("; ".join(one_line(task, _APPLIES_CHARS) for task in tasks))[:_PART_CHARS],
            wrong=scrub(error["definition"])[:_PART_CHARS],
            instead=scrub(made["reflection"])[:_PART_CHARS],
            state="quarantined",
            source="synthesize",
            level="macro",
            thread=id,
            number=number,
            origin=_SOURCE,
            outside=[_SOURCE],
            made=now,
        )
        if await book.get(advice.id) is None:
            await book.put(advice)
            kept.append(advice)
    return kept


def write_planning_errors(path: Path, values: Mapping[str, Any], id: str) -> tuple[Path | None, list[str]]:
    """Write the error types as planning errors; where they stand (None: nowhere), and which are left out.

    A planning error needs critiques of two tasks that give no reference away. Raises FileError.
    """
    errors, left_out = [], []
    for error, made in _reflected(values):
        failures = list(_failures(values, error["name"], made))
        if len(failures) < BRIEF_FAILURES:
            left_out.append(f"{error['name']}: fewer than two tasks have critiques that can be shown")
            continue
        fields = {"name": error["name"], "description": error["definition"]}
        errors.append((fields, failures, Pattern(text=made["reflection"])))
    if not errors:
        return None, left_out
    model = values["models"]["model"]

    def dated(date: str) -> list[PlanningError]:
        return [
            PlanningError(
                **fields,
                failures=tuple(failures),
                successes=(success,),
                generated=Generated(model=model, date=date),
            )
            for fields, failures, success in errors
        ]

    about = {
        "model": model,
        "source": "synthesize",
        "counts": {"errors": len(errors)},
        "trajectories": [trial["id"] for trial in values["trials"].values()],
    }
    return write_recorded(
        path, id, dated, about, [task["task"] for task in values["tasks"].values()]
    ), left_out


def _reflected(values: Mapping[str, Any]) -> list[tuple[Json, Json]]:
    """Each error type with a reflection, and the reflection; what most trajectories showed first."""
    made = values.get("error_reflections") or {}
    pairs = [(error, made[error["name"]]) for error in values.get("taxonomy") or [] if error["name"] in made]
    return sorted(pairs, key=lambda pair: -len(pair[1]["cites"]))


def _cited(values: Mapping[str, Any], made: Json) -> list[Json]:
    """The trials that a reflection rests on."""
    return [trial for trial in values["trials"].values() if trial["id"] in made["cites"]]


def _failures(values: Any, name: str, made: Json) -> Iterator[Pattern]:
    """A critique of each task that shows the type."""
    seen: set[str] = set()
    for key, trial in values["trials"].items():
        task = trial["task"]
        if trial["id"] not in made["cites"] or trial["outcome"] != "failure" or task in seen:
            continue
        text = values["tasks"][task]["task"]
        secret = References(tuple(values["references"].get(task, [])), text)
        critiques = (
            finding["critique"]
            for findings in error_path(values, key).values()
            for finding in findings
            if finding["error_type"] == name
        )
        critique = next((item for item in critiques if secret.problem(item) is None), None)
        if critique is not None:
            seen.add(task)
            origin = Provenance(
                source=_SOURCE,
                trajectory=trial["id"],
                question=used_question(text)["question"],
                outcome="failure",
            )
            yield Pattern(text=critique, provenance=origin)
