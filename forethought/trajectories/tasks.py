"""Tasks to learn from, and trials of them.

A tasks file is JSON Lines of {id, task, files, expected | checker, reference}.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from forethought.json_files import FileError, read_records
from forethought.models.types import Usage, no_usage
from forethought.trajectories.types import Loaded


def _texts(value: Any) -> Any:
    """One text, or a number, is a list of one; numbers become text."""
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(
        json.dumps(item) if isinstance(item, int | float) and not isinstance(item, bool) else item
        for item in values
    )


class CollectTask(BaseModel):
    """A task, and how to tell whether a run of it succeeded."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")
    task: str = Field(min_length=1)
    files: tuple[str, ...] = ()
    """Paths, relative to the tasks file."""
    expected: Annotated[tuple[str, ...], BeforeValidator(_texts)] = ()
    """Accepted answers."""
    checker: str | None = Field(default=None, pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")
    """MODULE:NAME of a function that is given the answer and the task, and says whether it is right."""
    reference: str = ""
    """What a right result looks like, such as a whole plan, where `expected` does not say it: for those who
    learn from failed runs, never for the agent."""

    @property
    def references(self) -> tuple[str, ...]:
        """All that is known of a right result."""
        return tuple(text for text in (*self.expected, self.reference) if text.strip())

    @model_validator(mode="after")
    def _can_be_judged(self) -> CollectTask:
        if bool([text for text in self.expected if text.strip()]) == bool(self.checker):
            raise ValueError("give either expected (the accepted answers) or checker (MODULE:NAME)")
        return self


@dataclass(frozen=True)
class Attempted:
    """The result of one trial of a task."""

    loaded: Loaded
    """With its outcome: unknown where nobody could judge it."""
    reason: str = ""
    """Why it was judged so."""
    background: str = ""
    """What the agent was given besides the task, as its prompts show it."""
    usage: Usage = field(default_factory=no_usage)


Attempt = Callable[[CollectTask, int, Sequence[str]], Awaitable[Attempted]]
"""Make one trial (SAMULE 3.2.1, micro level): (task, trial from 1, guidance) -> its result. Raises RunError
where it comes to no end, and the ModelErrors."""


class RunError(RuntimeError):
    """A run that came to no end; one line. It is not kept, and is tried again next time."""


def read_tasks(path: Path) -> list[CollectTask]:
    """The tasks in a file, their files as absolute paths that exist.

    Reads the disk. Raises FileError, in one line with the file's line number.
    """
    tasks: dict[str, CollectTask] = {}
    for number, task in read_records(path, CollectTask):
        if task.id in tasks:
            raise FileError(f"{path}:{number}: the id {task.id!r} is used twice; ids must differ")
        tasks[task.id] = task.model_copy(update={"files": existing_files(task.files, path, number)})
    if not tasks:
        raise FileError(f"{path}: no tasks in it; write one {{id, task, expected}} as JSON on each line")
    return list(tasks.values())


def existing_files(names: Sequence[str], path: Path, line: int) -> tuple[str, ...]:
    """The files that a line names, relative to the tasks file, as absolute paths. Raises FileError."""
    paths = {name: os.path.abspath(path.parent / name) for name in names}
    for name, file in paths.items():
        if not os.path.isfile(file):
            raise FileError(f"{path}:{line}: the file {name!r} is not there (looked in {path.parent})")
    return tuple(paths.values())
