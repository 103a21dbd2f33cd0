"""Advice from files: exports, planning errors, guidance, and the lessons of an earlier version."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from forethought.app.errors import CliError
from forethought.experience.advice import Advice, Source, advice_id, name_of, now_utc
from forethought.json_files import read_text
from forethought.knowledge.planning_errors import FOR_FOLDERS, PlanningError, load_planning_errors
from forethought.settings import Settings, reason_of
from forethought.storage import address_of
from forethought.text import one_line
from forethought.users import LOCAL_USER, label_of

_LESSONS = "lessons.sqlite"
_PART_CHARS = 1_000
_TEXTS = (".json", ".txt", ".md", "")


def packaged(file: Path | None = None) -> list[Advice]:
    """The planning errors that every plan is checked against, `file` in place of the packaged one."""
    errors = [*load_planning_errors(file), *load_planning_errors(FOR_FOLDERS)]
    return [_from_error(error, "packaged") for error in errors]


async def imported(file: Path, settings: Settings, namespace: str) -> list[Advice]:
    """Read advice from a file.

    Args:
        file: An export (.json), planning errors (.yaml), guidance (a rule in each paragraph), or the word
            `lessons`.
        settings: They name the database, beside which an earlier version kept its lessons.
        namespace: The collection of those lessons.

    Returns:
        The advice. The same file gives the same ids.

    Raises:
        CliError: The file is no advice.
        FileError: The file cannot be read.
    """
    if str(file) == "lessons":
        return [_from_lesson(row) for row in await _lessons(settings, namespace)]
    if file.suffix in (".yaml", ".yml"):
        return [_from_error(error, "import") for error in load_planning_errors(file)]
    if file.suffix not in _TEXTS:
        raise CliError(f"{file.name}: no advice; name a .json export, .yaml planning errors, or a .txt file")
    text = read_text(file)
    if file.suffix != ".json":
        return [_from_paragraph(part) for part in re.split(r"\n\s*\n", text) if part.strip()]
    try:
        return TypeAdapter(list[Advice]).validate_json(text)
    except ValidationError as error:
        raise CliError(f"{file}: not an export of experience: {reason_of(error.errors()[0])}") from error


def _from_paragraph(text: str) -> Advice:
    rule = one_line(text, _PART_CHARS)
    return Advice(
        id=advice_id("guidance", rule),
        name=name_of(rule),
        applies=rule,
        instead=rule,
        source="import",
        made=now_utc(),
    )


def _from_error(error: PlanningError, source: Source) -> Advice:
    return Advice(
        id=advice_id("error", error.name),
        name=error.name,
        kind="error",
        applies=one_line(error.description, _PART_CHARS),
        wrong=one_line(error.sign or error.description, _PART_CHARS),
        instead=one_line(error.successes[0].text, _PART_CHARS),
        failure=one_line(error.failures[0].text, _PART_CHARS),
        success=one_line(error.successes[0].text, _PART_CHARS),
        source=source,
        made=now_utc() if source == "import" else datetime(2025, 1, 1, tzinfo=UTC),
    )


async def _lessons(settings: Settings, namespace: str) -> list[Mapping[str, Any]]:
    """The lessons of an earlier version. Raises CliError if there are none."""
    from forethought.storage import open_experience
    from forethought.storage.sqlite import open_sqlite_experience

    address = address_of(settings)
    path = address.beside(_LESSONS).path
    if path and not path.exists():
        raise CliError(f"there are no lessons at {path}")
    opening = open_sqlite_experience(path, create=False) if path else open_experience(address, create=False)
    async with opening as store:
        items = await store.asearch(("lessons", label_of(LOCAL_USER), namespace), limit=500)
    return [item.value for item in items]


def _from_lesson(row: Mapping[str, Any]) -> Advice:
    quarantined = bool(row["outside"]) and not row["confirmed"]
    return Advice(
        id=row["id"],
        name=name_of(row["error_type"] or row["worked"]),
        applies=row["task"],
        wrong=one_line(" ".join(filter(None, (row["failed"], row["why"]))), _PART_CHARS),
        instead=one_line(row["worked"], _PART_CHARS),
        state="quarantined" if quarantined else "adopted",
        source="import",
        shown=row["used"],
        helped=row["helped"],
        harmed=row["hurt"],
        **{name: row[name] for name in ("thread", "number", "steps", "origin", "outside", "made")},
    )
