"""Trajectories from files and from JSON, whichever of the known formats they are in."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from pydantic import ValidationError

from forethought.extras import install_command
from forethought.json_files import FileError, parse_values, read_text
from forethought.settings import reason_of
from forethought.text import one_line
from forethought.trajectories import agent_error_bench, chats, own, react_logs, span_formats, step_records
from forethought.trajectories.format import Format
from forethought.trajectories.layout import Layout
from forethought.trajectories.types import Loaded, Trajectory
from forethought.trajectories.values import items, mapping, sanitize

logger = logging.getLogger(__name__)
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson", ".traj")
SUFFIXES = (*JSON_SUFFIXES, ".eval", ".txt", ".log")
_JSON = re.compile(r'\s*(\{\s*"|\[\s*[\[{"])')
"""The beginning of JSON that may contain a run; "[10:00] started" is text."""
_NAMED = 5
"""Maximum files named in a warning."""
_LISTED = 10
"""Maximum runs named as a choice."""
_KEYS = 12
"""Maximum keys of an unknown object named in its error."""
FORMATS: tuple[Format | Layout, ...] = (
    *own.FORMATS,
    agent_error_bench.AGENT_ERROR_BENCH,
    *span_formats.FORMATS,
    *step_records.FORMATS,
    *chats.FORMATS,
    react_logs.REACT_LOG,
)
"""The most specific first: every other format contains messages too."""


class UnknownFormatError(ValueError):
    """A value in no known format."""


@contextmanager
def _named(place: str) -> Iterator[None]:
    """Errors of one line, which names the place of what could not be read ('' none)."""
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"])) or "the trajectory"
        raise ValueError(" ".join(f"{place}{field}: {reason_of(first)}; correct it".split())) from error
    except ValueError as error:
        kind = UnknownFormatError if isinstance(error, UnknownFormatError) else ValueError
        raise kind(f"{place}{error}") from error


def read_trajectories(path: str | Path) -> list[Loaded]:
    """The trajectories in the file at `path`, or in all files of a folder and of its subfolders.

    In a folder, files that are broken or in no known format are passed over, and warnings name them. A
    trajectory that is read twice, word for word, is given once. Reads the disk: call it in a thread from a
    coroutine. Raises ValueError, in one line that says what to do.
    """
    chosen = Path(path)
    if not chosen.is_dir():
        return list(distinct(read_file(chosen)))
    trajectories: list[Loaded] = []
    unknown: list[str] = []
    problems: list[ValueError] = []
    for file in candidates(chosen):
        try:
            trajectories += read_file(file)
        except ValueError as error:
            problems.append(error)
            if isinstance(error, UnknownFormatError):
                unknown.append(file.relative_to(chosen).as_posix())
            else:
                logger.warning("skipped: %s", error)
    if not trajectories:
        why = f"this folder has no files that end in {', '.join(SUFFIXES)}; name another"
        if problems:
            why = f"no trajectories in this folder; the first problem: {problems[0]}"
        raise ValueError(f"{chosen}: {why}")
    if unknown:
        names = ", ".join([*unknown[:_NAMED], *["..."] * (len(unknown) > _NAMED)])
        logger.warning("%s: skipped, in no known format: %s", chosen, names)
    return list(distinct(trajectories))


def candidates(folder: Path, suffixes: Sequence[str] = SUFFIXES) -> list[Path]:
    """The files in a folder and its subfolders that may hold runs; hidden ones do
    not, nor those that are read with their folder's results."""

    def fits(file: Path) -> bool:
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        return not hidden and file.suffix.lower() in suffixes and file.is_file()

    files = [file for file in sorted(folder.rglob("*")) if fits(file)]
    left_out = {other for file in files for other in (*_simulations(file), *_without_runs(file))}
    return [file for file in files if file not in left_out]


def _simulations(file: Path) -> list[Path]:
    """The simulations of tau2 that stand in a folder beside its results."""
    return sorted((file.parent / "simulations").glob("*.json")) if file.name == "results.json" else []


def _without_runs(file: Path) -> list[Path]:
    """The files of an evaluation's folder besides its trajectories, which its logs would give once more."""
    root = file.parent
    if file.name != "results.jsonl" or not (root / "trajectories").is_dir():
        return []
    return [file, root / "run.json", *root.glob("learned/*"), *root.glob("logs/*")]


def from_json(value: object, name: str = "trajectory") -> Loaded:
    """The one trajectory in `value`: JSON in a known format, or the text of a log with one run in it.

    Raises ValueError, in one line that says what to do.
    """
    return the_run(all_from_json(value, name))


def all_from_json(value: object, name: str = "trajectory") -> list[Loaded]:
    """All trajectories in `value`. Raises ValueError as `from_json` does."""
    try:
        with _named(""):
            return _read(sanitize(value), name)
    except RecursionError as error:
        raise ValueError("the trajectory is nested too deeply; flatten it") from error


def _read(value: Any, name: str) -> list[Loaded]:
    if known := next((each for each in FORMATS if each.claims(value)), None):
        trajectories = known.read(value, name)
        if not trajectories:
            raise ValueError("no trajectory found; check that the export is complete")
        return trajectories
    if isinstance(value, str) and _JSON.match(value):
        return _read(parse_values(value, Path(name)), name)
    if not isinstance(value, list) or not value or agent_error_bench.is_labels(value):
        raise _unknown(value)
    trajectories = []
    for number, item in enumerate(value, 1):
        with _named(f"item {number}: "):
            trajectories += _read(item, f"{name}-{number}")
    return trajectories


def _unknown(value: object) -> UnknownFormatError:
    """What a value in no known format is, and what was looked for in it."""
    keys = ", ".join(sorted(mapping(value))[:_KEYS]) or "no keys"
    first = f" of {type(items(value)[0]).__name__}" if items(value) else ""
    is_text = isinstance(value, str)
    kind = "text" if is_text else f"a {type(value).__name__}{first}"
    what = f"an object with {keys}" if isinstance(value, dict) else kind
    formats = [react_logs.REACT_LOG] if is_text else FORMATS
    known = "; ".join(f"{each.name} ({each.looked_for})" for each in formats)
    return UnknownFormatError(
        f"unknown trajectory format ({one_line(what, 300)}); convert it to the form that "
        f"`forethought trajectories schema` prints. Known formats: {known}"
    )


def read_json(path: Path) -> Any:
    """The JSON value of a file, or the list of its lines' values. Raises FileError."""
    return parse_values(read_text(path), path)


def read_file(path: Path) -> list[Loaded]:
    """The trajectories in a file. Raises UnknownFormatError, and ValueError for what is broken."""
    if path.suffix.lower() == ".eval":
        value = read_eval(path)
    else:
        content = read_text(path)
        is_json = path.suffix.lower() in JSON_SUFFIXES or _JSON.match(content)
        value = parse_values(content, path) if is_json else content
        if (simulations := _simulations(path)) and isinstance(value, dict):
            value["simulations"] = [read_json(simulation) for simulation in simulations]
    with _named(f"{path}: "):
        return all_from_json(value, path.stem.removesuffix(".traj"))


def read_eval(path: Path) -> Any:
    """A log of inspect as the JSON that it stands for: by inspect itself, since its archives have versions.

    Raises FileError, also where inspect is not installed.
    """
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise FileError(
            f"{path}: reading logs of inspect needs inspect: {install_command('evals')}"
        ) from error
    try:
        return read_eval_log(str(path), resolve_attachments=True).model_dump(mode="json", exclude_none=True)
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise FileError(
            f"{path}: unreadable inspect log ({one_line(error, 200)}); export it again"
        ) from error


def distinct(trajectories: Iterable[Loaded]) -> Iterator[Loaded]:
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


def the_run(runs: Sequence[Loaded], pick: str = "") -> Loaded:
    """The only one of `runs`, or the one with the id `pick`. Raises ValueError where that is none or many."""
    fitting = [run for run in runs if pick in ("", run.trajectory.id)]
    if len(fitting) == 1:
        return fitting[0]
    ids = ", ".join(one_line(run.trajectory.id, 60) for run in runs[:_LISTED])
    what = f"no run has the id {one_line(pick, 60)}" if pick else f"there are {len(runs)} runs"
    raise ValueError(f"{what}: choose from {ids}{', ...' if len(runs) > _LISTED else ''}")
