"""What a distillation is asked for: its trajectories, its Context, the tasks that it must keep clear of."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from forethought.app.errors import CliError
from forethought.app.options import Flags
from forethought.app.text import one_line
from forethought.settings import Settings
from forethought.state.distiller import DistillerContext

if TYPE_CHECKING:
    from forethought.trajectories.types import Loaded

DEFAULT_OUT = Path("planning_errors.yaml")


@dataclass(frozen=True)
class Asked:
    """The flags of `distill` besides those that every command has."""

    paths: Sequence[Path]
    out: Path = DEFAULT_OUT
    review: bool = False
    exclude: Sequence[Path] = ()
    source: str | None = None
    fresh: bool = False


@dataclass(frozen=True)
class Gathered:
    """What was read."""

    loaded: list[Loaded]
    files: dict[str, str]
    """By trajectory id: the file or folder that it was read from, below the folder that holds them all."""
    exclude: list[str]

    def name(self, context: DistillerContext) -> str:
        """An id that the same trajectories and choices lead to again, so that the same command goes on with
        what it has begun."""
        choices = context.model_dump(exclude={"review", "max_parallel", "max_tokens", "max_usd"})
        parts = [loaded.model_dump_json() for loaded in self.loaded]
        whole = json.dumps([choices, sorted(self.exclude), parts], ensure_ascii=False)
        return f"distill:{hashlib.sha256(whole.encode('utf-8', 'replace')).hexdigest()[:16]}"


def gather(asked: Asked) -> Gathered:
    """Read the trajectories and the tasks of evaluations. Raises CliError."""
    from forethought.trajectories.questions import read_questions
    from forethought.trajectories.read import read_trajectories

    if not asked.paths:
        raise CliError("name what to distill: a folder of `forethought collect`, or files of trajectories")
    names = _names(asked.paths)
    found: dict[str, Loaded] = {}
    files: dict[str, str] = {}
    try:
        for path in asked.paths:
            for loaded in read_trajectories(_of_collection(path)):
                loaded = _renamed(loaded, found)
                found[loaded.trajectory.id] = loaded
                files.setdefault(loaded.trajectory.id, names[path])
        exclude = [text for path in asked.exclude for text in read_questions(path)]
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error
    return Gathered(list(found.values()), files, exclude)


def distiller_context(flags: Flags, settings: Settings, review: bool) -> DistillerContext:
    """The Context: the defaults, changed by --model, --set and --review. Raises CliError."""
    from forethought.state.bounds import bounded

    values: dict[str, Any] = {"review": review}
    if flags.model or settings.model:
        values["model"] = flags.model or settings.model
    for item in flags.sets:
        key, equals, text = (part.strip() for part in item.partition("="))
        if not equals:
            raise CliError(f"--set {one_line(item)}: write KEY=VALUE")
        values[_known(key)] = _value(key, text)
    try:
        return bounded(DistillerContext.model_validate(values), settings)
    except ValidationError as error:
        first = error.errors()[0]
        given = one_line(first.get("input"))
        raise CliError(f"--set {first['loc'][0]}: {given!r}: {first['msg'].lower()}") from error
    except ValueError as error:
        raise CliError(str(error)) from error


def _names(paths: Sequence[Path]) -> dict[Path, str]:
    """Each path from the folder on that holds all of them: enough to tell them apart, and nothing of this
    machine."""
    whole = {path: path.absolute() for path in paths}
    common = os.path.commonpath([path.parent for path in whole.values()])
    return {path: full.relative_to(common).as_posix() for path, full in whole.items()}


def _of_collection(path: Path) -> Path:
    """The trajectories of a folder that `collect` has filled; any other path as it is."""
    inside = path / "trajectories"
    return inside if (path / "collection.json").is_file() and inside.is_dir() else path


def _renamed(loaded: Loaded, found: dict[str, Loaded]) -> Loaded:
    """`loaded` under an id that no other run has; the same run keeps its own."""
    trajectory, number = loaded.trajectory, 2
    while (other := found.get(trajectory.id)) is not None and other.trajectory != trajectory:
        trajectory = trajectory.model_copy(update={"id": f"{loaded.trajectory.id}~{number}"})
        number += 1
    return loaded.model_copy(update={"trajectory": trajectory})


def _known(key: str) -> str:
    fields = list(DistillerContext.model_fields)
    if key in fields:
        return key
    close = difflib.get_close_matches(key, fields, n=2, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(fields)}"
    raise CliError(f"--set: unknown setting {one_line(key)!r}; {hint}")


def _value(key: str, text: str) -> Any:
    if key == "model":
        return text
    if text.lower() == "none":
        return None
    try:
        return json.loads(text.lower())
    except ValueError:
        return text
