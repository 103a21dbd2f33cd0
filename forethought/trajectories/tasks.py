"""Tasks to learn from, and trials of them.

A tasks file is JSON Lines of {id, task, files, expected | rubric | checker, reference}, or CSV with such
columns.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from forethought.json_files import FileError, as_record, read_lines, read_text
from forethought.models.types import Usage, no_usage
from forethought.trajectories.types import Loaded


def _texts(value: Any) -> Any:
    """One text, or a number, is a list of one; numbers become text."""
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(
        json.dumps(item) if isinstance(item, int | float) and not isinstance(item, bool) else item
        for item in values
    )


Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]


class CollectTask(BaseModel):
    """A task, and how to tell whether a run of it succeeded."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")
    task: str = Field(min_length=1)
    files: Texts = ()
    """Paths, relative to the tasks file."""
    expected: Texts = ()
    """Accepted answers."""
    rubric: Texts = ()
    """Criteria that a right answer meets, judged by a model."""
    checker: str | None = Field(default=None, pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")
    """MODULE:NAME of a function of the answer and the task that returns whether the answer is right."""
    reference: str = ""
    """What a right result looks like, such as a whole plan, where `expected` does not say it: for those who
    learn from failed runs, never for the agent."""

    @property
    def references(self) -> tuple[str, ...]:
        """All that is known of a right result."""
        return tuple(text for text in (*self.expected, *self.rubric, self.reference) if text.strip())

    @model_validator(mode="after")
    def _can_be_judged(self) -> CollectTask:
        said = [any(text.strip() for text in texts) for texts in (self.expected, self.rubric)]
        if [*said, bool(self.checker)].count(True) != 1:
            raise ValueError(
                "give one of: expected (the accepted answers), rubric (criteria for a judge), checker "
                "(MODULE:NAME)"
            )
        return self


@dataclass(frozen=True)
class Attempted:
    """The result of one trial of a task."""

    loaded: Loaded
    """With its outcome: unknown if it could not be judged."""
    reason: str = ""
    """The reason for the verdict."""
    background: str = ""
    """The agent's input besides the task, as its prompts show it."""
    usage: Usage = field(default_factory=no_usage)


Attempt = Callable[[CollectTask, int, Sequence[str]], Awaitable[Attempted]]
"""Make one trial (SAMULE 3.2.1, micro level): (task, trial from 1, guidance) -> its result. Raises RunError
where it comes to no end, and the ModelErrors."""


SEPARATOR = "|"
"""Separator of several files, accepted answers or criteria in a cell of a CSV file."""
_LISTS = {"files", "expected", "rubric"}


class RunError(RuntimeError):
    """A run that came to no end; one line. It is not kept, and is tried again next time."""


def read_tasks(path: Path) -> list[CollectTask]:
    """The tasks in a file, their files as absolute paths that exist; one without an id has its number.

    Reads the disk. Raises FileError, in one line with the file's line number.
    """
    tasks: dict[str, CollectTask] = {}
    rows = _csv_rows(path) if path.suffix.lower() == ".csv" else read_lines(path)
    for number, row in rows:
        if isinstance(row, dict):
            question = {"task": row.pop("question")} if "question" in row and "task" not in row else {}
            row = {"id": str(len(tasks) + 1), **question, **row}
        task = as_record(CollectTask, row, path, number)
        if task.id in tasks:
            raise FileError(f"{path}:{number}: the id {task.id!r} is used twice; make it unique")
        tasks[task.id] = task.model_copy(update={"files": existing_files(task.files, path, number)})
    if not tasks:
        forms = "{task, expected} as JSON on each line, or a CSV file with such columns"
        raise FileError(f"{path}: no tasks in it; write {forms}")
    return list(tasks.values())


def _csv_rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Each row's last line and its cells that are not empty. Raises FileError."""
    rows = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        for row in rows:
            if None in row or None in row.values():
                raise FileError(
                    f"{path}:{rows.line_num}: the row and the header have different numbers of cells; "
                    "correct it"
                )
            cells = {name.strip(): cell.strip() for name, cell in row.items() if cell.strip()}
            lists = {name: cells[name].split(SEPARATOR) for name in _LISTS & cells.keys()}
            yield rows.line_num, cells | {name: [part.strip() for part in lists[name]] for name in lists}
    except csv.Error as error:
        raise FileError(f"{path}:{rows.reader.line_num}: broken CSV ({error}); correct it") from error


def existing_files(names: Sequence[str], path: Path, line: int) -> tuple[str, ...]:
    """The files that a line names, relative to the tasks file, as absolute paths. Raises FileError."""
    paths = {name: os.path.abspath(path.parent / name) for name in names}
    for name, file in paths.items():
        if not os.path.exists(file):
            raise FileError(f"{path}:{line}: there is no file {name!r} in {path.parent}; correct the path")
    return tuple(paths.values())
