"""The tasks of a batch: JSON Lines of {id, task, files, context, priority}; only `task` is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from forethought.batch.payload import digest
from forethought.json_files import read_records
from forethought.settings import reason_of
from forethought.state.context import Context
from forethought.trajectories.tasks import existing_files

ID = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$"
MOST_PRIORITY = 1_000_000
_OWN_ID = 12
"""Hexadecimal digits of the id of a task that was given none."""


class BatchTask(BaseModel):
    """A task of a batch."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field("", pattern=rf"^$|{ID}")
    """Unique in its batch; by default made of what the task is."""
    task: str = Field(min_length=1)
    files: tuple[str, ...] = ()
    """Paths; in a file of tasks relative to it."""
    context: dict[str, Any] = Field(default_factory=dict)
    """Settings of this run that differ from the batch's."""
    priority: int | None = Field(None, ge=-MOST_PRIORITY, le=MOST_PRIORITY)
    """Higher ones are carried out first; by default the batch's."""

    @field_validator("task")
    @classmethod
    def _can_be_kept(cls, value: str) -> str:
        text = value.replace("\0", "").strip()
        if not text:
            raise ValueError("the task is empty: say what is asked")
        return text

    @field_validator("context")
    @classmethod
    def _is_a_context(cls, value: dict[str, Any]) -> dict[str, Any]:
        try:
            Context.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise ValueError(f"{place}: {reason_of(first, Context.model_fields)}") from error
        return value


def read_batch(path: Path) -> list[BatchTask]:
    """The tasks in a file, each with an id, their files as absolute paths that exist.

    Reads the disk. Raises ValueError, in one line with the file's line number.
    """
    read: list[tuple[int, BatchTask]] = []
    lines: dict[str, int] = {}
    for number, task in read_records(path, BatchTask):
        if task.id and lines.setdefault(task.id, number) != number:
            raise ValueError(
                f"{path}:{number}: the id {task.id!r} is used twice (line {lines[task.id]}); ids must differ"
            )
        read.append((number, task))
    if not read:
        raise ValueError(f"{path}: no tasks in it; write one {{task}} or {{id, task, files}} as JSON a line")
    # The ids first: they are to be the same wherever the folder is.
    named = with_ids([task for _, task in read])
    return [
        task.model_copy(update={"files": existing_files(task.files, path, number)})
        for task, (number, _) in zip(named, read, strict=True)
    ]


def with_ids(tasks: Sequence[BatchTask]) -> list[BatchTask]:
    """The tasks, those without an id with one of their own: the same when they are submitted again.

    Equal tasks without an id are told apart by which of them they are. Raises ValueError for an id used
    twice.
    """
    seen: Counter[str] = Counter()
    named: dict[str, BatchTask] = {}
    for task in tasks:
        if not task.id:
            own = digest(task.model_dump_json(exclude={"id"}))[:_OWN_ID]
            seen[own] += 1
            task = task.model_copy(update={"id": own if seen[own] == 1 else f"{own}-{seen[own]}"})
        if task.id in named:
            raise ValueError(f"the id {task.id!r} is used twice; ids must differ")
        named[task.id] = task
    return list(named.values())
