"""The tasks file of a collection: JSON Lines of {id, task, files, expected | checker, reference}."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from forethought.settings import reason_of

M = TypeVar("M", bound=BaseModel)


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
    checker: str | None = Field(None, pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")
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


def read_tasks(path: Path) -> list[CollectTask]:
    """The tasks in a file, their files as absolute paths that exist.

    Reads the disk. Raises ValueError, in one line with the file's line number.
    """
    tasks: dict[str, CollectTask] = {}
    for number, line in lines_of(path):
        task = parsed(CollectTask, line, path, number)
        task = task.model_copy(update={"files": found_files(task.files, path, number)})
        if task.id in tasks:
            raise ValueError(f"{path}:{number}: the id {task.id!r} is used twice; ids must differ")
        tasks[task.id] = task
    if not tasks:
        raise ValueError(f"{path}: no tasks in it; write one {{id, task, expected}} as JSON on each line")
    return list(tasks.values())


def lines_of(path: Path) -> list[tuple[int, str]]:
    """The lines of a JSON Lines file that hold something, numbered from 1. Raises ValueError."""
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 text; save the file as UTF-8") from error
    return [(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def parsed(of: type[M], line: str, path: Path, number: int) -> M:
    """A line as a record. Raises ValueError, in one line with the line's number."""
    try:
        return of.model_validate(json.loads(line, object_pairs_hook=_once_each))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the task"
        raise ValueError(f"{path}:{number}: {place}: {reason_of(first, of.model_fields)}") from error
    except RecursionError as error:
        raise ValueError(f"{path}:{number}: broken JSON (nested too deeply); correct it") from error
    except ValueError as error:
        raise ValueError(f"{path}:{number}: broken JSON ({error}); correct it") from error


def found_files(names: Sequence[str], path: Path, number: int) -> tuple[str, ...]:
    """The files that a line names, relative to the tasks file, as absolute paths. Raises ValueError."""
    found = []
    for name in names:
        try:
            file = (path.parent / name).resolve()
            there = file.is_file()
        # What no file system takes as a name; a loop of links, before Python 3.13.
        except (OSError, RuntimeError, ValueError):
            there = False
        if not there:
            raise ValueError(f"{path}:{number}: the file {name!r} is not there (looked in {path.parent})")
        found.append(str(file))
    return tuple(found)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise ValueError(f"{name[:40]!r} is given twice")
        made[name] = value
    return made
