"""Trajectories from files and from JSON, whichever of the known formats they are in.

A format is a module with `claims`, whether a value is in it, and `read`, the trajectories of one that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from forethought.json_files import parse_values, read_text
from forethought.trajectories import (
    agent_error_bench,
    openai_messages,
    own,
    react_logs,
    tau_bench,
    validated,
)
from forethought.trajectories.types import Loaded, Trajectory
from forethought.trajectories.values import sanitize

JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
SUFFIXES = (*JSON_SUFFIXES, ".txt", ".log")
KNOWN = (
    "a trajectory of this project, a state of its agent, messages with roles, AgentErrorBench "
    "(metadata and messages), tau-bench (task_id, reward, traj), or a ReAct log"
)


class Format(Protocol):
    """A format that trajectories are read from; `value` is JSON, or the text of a log."""

    def claims(self, value: object) -> bool:
        """Whether `value` is in this format."""
        ...

    def read(self, value: object, name: str) -> list[Loaded]:
        """Its trajectories; `name` is for those that have none."""
        ...


FORMATS: tuple[Format, ...] = (validated, own, tau_bench, agent_error_bench, openai_messages, react_logs)
"""The most telling first: the messages of every other format are messages too."""


def read_trajectories(path: str | Path) -> list[Loaded]:
    """The trajectories in the file at `path`, or in all files of a folder and of its subfolders.

    In a folder, files of annotations and text that is no log are passed over. A trajectory that is read
    twice, word for word, is given once. Reads the disk: call it in a thread from a coroutine. Raises
    ValueError, in one line that says what to do.
    """
    chosen = Path(path)
    if not chosen.is_dir():
        return list(_distinct(_read_file(chosen)))
    trajectories: list[Loaded] = []
    for file in candidates(chosen):
        trajectories += _read_file(file, lenient=True)
    if not trajectories:
        raise ValueError(f"{chosen}: no trajectories in this folder; known formats are {KNOWN}")
    return list(_distinct(trajectories))


def candidates(folder: Path, suffixes: Sequence[str] = SUFFIXES) -> list[Path]:
    """The files in a folder and its subfolders that may hold something to be read; hidden ones do not."""

    def fits(file: Path) -> bool:
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        return not hidden and file.suffix.lower() in suffixes and file.is_file()

    return [file for file in sorted(folder.rglob("*")) if fits(file)]


def from_json(value: object, name: str = "trajectory") -> Loaded:
    """The one trajectory in `value`: JSON in a known format, or the text of a log with one run in it.

    Raises ValueError, in one line that says what to do.
    """
    trajectories = all_from_json(value, name)
    if len(trajectories) != 1:
        raise ValueError(f"there are {len(trajectories)} trajectories here; give one at a time")
    return trajectories[0]


def all_from_json(value: object, name: str = "trajectory") -> list[Loaded]:
    """All trajectories in `value`. Raises ValueError as `from_json` does."""
    try:
        return _read(sanitize(value), name)
    except RecursionError as error:
        raise ValueError("the trajectory is nested too deeply to be read; give a flatter one") from error


def _read(value: Any, name: str) -> list[Loaded]:
    for each in FORMATS:
        if each.claims(value):
            return _read_with(each, value, name)
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        return _read(parse_values(value, Path(name)), name)
    if isinstance(value, list) and value and not agent_error_bench.is_labels(value):
        return [loaded for number, item in enumerate(value, 1) for loaded in _read(item, f"{name}-{number}")]
    raise ValueError(f"this is no trajectory in a known format; known are {KNOWN}")


def read_json(path: Path) -> Any:
    """The JSON value of a file, or the list of its lines' values. Raises FileError."""
    return parse_values(read_text(path), path)


def _read_file(path: Path, *, lenient: bool = False) -> list[Loaded]:
    """The trajectories in a file. `lenient`: none where it is plainly something else."""
    content = read_text(path)
    is_json = path.suffix.lower() in JSON_SUFFIXES or content.lstrip()[:1] in ("{", "[")
    value = parse_values(content, path) if is_json else content
    if lenient and (agent_error_bench.is_labels(value) if is_json else not react_logs.claims(value)):
        return []
    try:
        return all_from_json(value, path.stem)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _read_with(each: Format, value: object, name: str) -> list[Loaded]:
    try:
        if trajectories := each.read(value, name):
            return trajectories
        raise ValueError("there is no trajectory in this; is the export complete?")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the trajectory"
        raise ValueError(" ".join(f"{place}: {first['msg']}; correct it".split())) from error


def _distinct(trajectories: Iterable[Loaded]) -> Iterator[Loaded]:
    """Each trajectory once; different ones that share an id get a number."""
    seen: dict[str, list[Trajectory]] = {}
    for loaded in trajectories:
        trajectory = loaded.trajectory
        same = seen.setdefault(trajectory.id, [])
        if trajectory in same:
            continue
        same.append(trajectory)
        if len(same) > 1:
            renamed = trajectory.model_copy(update={"id": f"{trajectory.id}~{len(same)}"})
            loaded = loaded.model_copy(update={"trajectory": renamed})
        yield loaded
