"""Trajectories from files and from JSON, whichever of the known formats they are in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from forethought.json_files import parse_values, read_text
from forethought.trajectories import (
    agent_error_bench,
    openai_messages,
    own,
    react_logs,
    tau_bench,
)
from forethought.trajectories.types import Loaded, Trajectory
from forethought.trajectories.values import mapping, sanitize

SUFFIXES = (".json", ".jsonl", ".ndjson", ".txt", ".log")
KNOWN = (
    "a trajectory of this project, a state of its agent, messages with roles, AgentErrorBench "
    "(metadata and messages), tau-bench (task_id, reward, traj), or a ReAct log"
)


class _Format(NamedTuple):
    matches: Callable[[object], bool]
    read: Callable[[object, str], list[Loaded]]


def _is_validated(value: object) -> bool:
    whole = mapping(value)
    inner = mapping(whole.get("trajectory")) or whole
    return "steps" in inner and "task" in inner and "progress" not in whole


def _validated(value: object, name: str) -> list[Loaded]:
    whole = mapping(value)
    if "trajectory" in whole:
        return [Loaded.model_validate(whole)]
    return [Loaded(trajectory=Trajectory.model_validate({"id": name, **whole}))]


_FORMATS = (
    _Format(_is_validated, _validated),
    _Format(own.matches, own.read),
    _Format(tau_bench.matches, tau_bench.read),
    _Format(agent_error_bench.matches, agent_error_bench.read),
    _Format(openai_messages.matches, openai_messages.read),
)
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
    found: list[Loaded] = []
    for file in candidates(chosen):
        found += _read_file(file, lenient=True)
    if not found:
        raise ValueError(f"{chosen}: no trajectories in this folder; known formats are {KNOWN}")
    return list(_distinct(found))


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
    found = all_from_json(value, name)
    if len(found) != 1:
        raise ValueError(f"there are {len(found)} trajectories here; give one at a time")
    return found[0]


def all_from_json(value: object, name: str = "trajectory") -> list[Loaded]:
    """All trajectories in `value`. Raises ValueError as `from_json` does."""
    try:
        return _read(sanitize(value), name)
    except RecursionError as error:
        raise ValueError("the trajectory is nested too deeply to be read; give a flatter one") from error


def _read(value: Any, name: str) -> list[Loaded]:
    if isinstance(value, str):
        return _from_text(value, name)
    for each in _FORMATS:
        if each.matches(value):
            return _read_with(each, value, name)
    if isinstance(value, list) and value and not agent_error_bench.is_labels(value):
        return [loaded for number, item in enumerate(value, 1) for loaded in _read(item, f"{name}-{number}")]
    raise ValueError(f"this is no trajectory in a known format; known are {KNOWN}")


def read_json(path: Path) -> Any:
    """The JSON value of a file, or the list of its lines' values. Raises FileError."""
    return parse_values(read_text(path), path)


def _read_file(path: Path, *, lenient: bool = False) -> list[Loaded]:
    """The trajectories in a file. `lenient`: none where it is plainly something else."""
    content = read_text(path)
    is_json = path.suffix.lower() in (".json", ".jsonl", ".ndjson") or content.lstrip()[:1] in ("{", "[")
    if lenient and not is_json and not react_logs.matches(content):
        return []
    value = parse_values(content, path) if is_json else content
    if lenient and agent_error_bench.is_labels(value):
        return []
    try:
        return all_from_json(value, path.stem)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _from_text(content: str, name: str) -> list[Loaded]:
    if react_logs.matches(content) and (found := react_logs.read(content.replace("\r\n", "\n"))):
        return found
    if content.lstrip()[:1] in ("{", "["):
        return _read(parse_values(content, Path(name)), name)
    raise ValueError(f"this is no trajectory in a known format; known are {KNOWN}")


def _read_with(each: _Format, value: object, name: str) -> list[Loaded]:
    try:
        if found := each.read(value, name):
            return found
        raise ValueError("there is no trajectory in this; is the export complete?")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the trajectory"
        raise ValueError(" ".join(f"{place}: {first['msg']}; correct it".split())) from error


def _distinct(found: Iterable[Loaded]) -> Iterator[Loaded]:
    """Each trajectory once; different ones that share an id get a number."""
    seen: dict[str, list[Trajectory]] = {}
    for loaded in found:
        trajectory = loaded.trajectory
        same = seen.setdefault(trajectory.id, [])
        if trajectory in same:
            continue
        same.append(trajectory)
        if len(same) > 1:
            renamed = trajectory.model_copy(update={"id": f"{trajectory.id}~{len(same)}"})
            loaded = loaded.model_copy(update={"trajectory": renamed})
        yield loaded
