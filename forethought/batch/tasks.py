"""The tasks of a batch: JSON Lines of {id, task, files}; only `task` is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from forethought.batch.payload import digest
from forethought.json_files import read_records
from forethought.trajectories.tasks import existing_files

ID = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$"
_OWN_ID = 12
"""Hexadecimal digits of the id of a task without one."""


class BatchTask(BaseModel):
    """A task of a batch."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    id: str = Field(default="", pattern=rf"^$|{ID}")
    """Unique in its batch; default: a hash of the task."""
    task: str = Field(min_length=1)
    files: tuple[str, ...] = ()
    """Paths; in a file of tasks relative to it."""


def read_batch(path: Path) -> list[BatchTask]:
    """The tasks in a file, each with an id, their files as absolute paths that exist.

    Reads the disk. Raises ValueError, in one line that names the file's line or the task's id.
    """
    records = read_records(path, BatchTask)
    if not records:
        raise ValueError(f"{path}: no tasks in it; write one {{task}} or {{id, task, files}} as JSON a line")
    # The ids first: they are to be the same wherever the folder is.
    named = with_ids([task for _, task in records])
    return [
        task.model_copy(update={"files": existing_files(task.files, path, number)})
        for task, (number, _) in zip(named, records, strict=True)
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
            raise ValueError(f"the id {task.id!r} is used twice; make it unique")
        named[task.id] = task
    return list(named.values())
