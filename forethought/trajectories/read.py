"""Trajectories from files and from JSON, whichever of the known formats they are in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from forethought.text import one_line
from forethought.trajectories import (
    agent_error_bench,
    openai_messages,
    own,
    react_logs,
    tau_bench,
)
from forethought.trajectories.types import Loaded, Trajectory
from forethought.trajectories.values import mapping, sanitize

MAX_BYTES = 512 * 1024 * 1024
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
    try:
        found = all_from_json(value, name)
    except RecursionError as error:
        raise ValueError("the trajectory is nested too deeply to be read; give a flatter one") from error
    if len(found) != 1:
        raise ValueError(f"there are {len(found)} trajectories here; give one at a time")
    return found[0]


def all_from_json(value: object, name: str = "trajectory") -> list[Loaded]:
    """All trajectories in `value`. Raises ValueError as `from_json` does."""
    value = sanitize(value)
    if isinstance(value, str):
        return _from_text(value, name)
    for each in _FORMATS:
        if each.matches(value):
            return _read_with(each, value, name)
    if isinstance(value, list) and value and not agent_error_bench.is_labels(value):
        return [
            loaded
            for number, item in enumerate(value, 1)
            for loaded in all_from_json(item, f"{name}-{number}")
        ]
    raise ValueError(f"this is no trajectory in a known format; known are {KNOWN}")


def read_json(path: Path) -> Any:
    """The JSON in a file, or the list of a JSON Lines file's. Raises ValueError."""
    raw = read_text(path)
    return _parse(raw, str(path))


def read_text(path: Path) -> str:
    """The text of a file: UTF-8, or UTF-16 with its mark. Raises ValueError."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"{path}: larger than {MAX_BYTES // 2**20} MiB; split it")
        raw = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error
    wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        content = raw.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 text (byte {error.start}); save the file as UTF-8") from error
    if not content.strip():
        raise ValueError(f"{path}: the file is empty; give a file with a trajectory")
    return content


def _read_file(path: Path, *, lenient: bool = False) -> list[Loaded]:
    """The trajectories in a file. `lenient`: none where it is plainly something else."""
    content = read_text(path)
    is_json = path.suffix.lower() in (".json", ".jsonl", ".ndjson") or content.lstrip()[:1] in ("{", "[")
    try:
        if not is_json:
            if lenient and not react_logs.matches(content):
                return []
            return _from_text(content, path.stem)
        value = _parse(content, "")
        if lenient and agent_error_bench.is_labels(value):
            return []
        return all_from_json(value, path.stem)
    except RecursionError as error:
        raise ValueError(f"{path}: nested too deeply to be read; give a flatter file") from error
    except ValueError as error:
        raise ValueError(f"{path}: {str(error).removeprefix(': ')}") from error


def _from_text(content: str, name: str) -> list[Loaded]:
    if react_logs.matches(content) and (found := react_logs.read(content.replace("\r\n", "\n"))):
        return found
    if content.lstrip()[:1] in ("{", "["):
        return all_from_json(_parse(content, name), name)
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


def _parse(content: str, place: str) -> Any:
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError(f"{place}: nested too deeply to be read; give a flatter file") from error
    except ValueError as error:
        whole = error
    lines = [line for line in content.split("\n") if line.strip()]
    if len(lines) > 1 and lines[0].strip()[:1] in ("{", "[") and lines[0].strip()[-1:] in ("}", "]"):
        return [_parsed_line(line, place, number) for number, line in enumerate(lines, 1)]
    raise ValueError(f"{place}: broken JSON ({one_line(whole, 120)}); is the file complete?") from whole


def _parsed_line(line: str, place: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{place}: broken JSON in line {number} ({one_line(error, 120)}); correct it"
        ) from error


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
