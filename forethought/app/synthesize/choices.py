"""What a synthesis is asked for: tasks to try or trajectories, its Context, and the agent's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from forethought.app.distill.choices import Asked as DistillAsked
from forethought.app.distill.choices import gather
from forethought.app.errors import CliError
from forethought.app.options import Flags, context_from_flags
from forethought.app.text import one_line
from forethought.settings import Settings
from forethought.state.bounds import bounded
from forethought.state.context import Context
from forethought.state.synthesizer import SynthesizerContext

if TYPE_CHECKING:
    from forethought.trajectories.tasks import CollectTask
    from forethought.trajectories.types import Loaded


@dataclass(frozen=True)
class Asked:
    """The flags of `synthesize` besides those that every command has."""

    paths: Sequence[Path]
    out: Path
    trials: int | None = None
    success: str = "exact"
    least_f1: float = 0.8
    judge_model: str | None = None
    fresh: bool = False
    checkers: tuple[str, ...] = ()
    """Those that the tasks may name."""


@dataclass(frozen=True)
class Gathered:
    """What was read: tasks, or trajectories."""

    tasks: tuple[CollectTask, ...] = ()
    loaded: tuple[Loaded, ...] = ()

    def name(self, context: SynthesizerContext, asked: Asked, agent: Context) -> str:
        """An id that the same material and choices lead to again, so that the same command goes on with what
        it has begun."""
        choices: list[Any] = [context.model_dump(exclude={"max_parallel", "max_tokens", "max_usd"})]
        if self.tasks:
            choices += [agent.model_dump(mode="json"), asked.success, asked.least_f1, asked.judge_model]
        parts = [item.model_dump_json() for item in (*self.tasks, *self.loaded)]
        whole = json.dumps([choices, parts], ensure_ascii=False)
        return f"synthesize:{hashlib.sha256(whole.encode('utf-8', 'replace')).hexdigest()[:16]}"


def gather_material(asked: Asked) -> Gathered:
    """Read the tasks file, or the trajectories. Raises CliError."""
    from forethought.collecting.success import check_named
    from forethought.trajectories.tasks import read_tasks

    if not asked.paths:
        raise CliError("name a tasks file (JSON Lines of {id, task, expected}), or files of trajectories")
    if asked.out.is_dir():
        raise CliError(f"--out {asked.out}: this is a folder; name a file")
    if asked.out.resolve() in {path.resolve() for path in asked.paths}:
        raise CliError(f"--out {asked.out}: this file is read from; name another one")
    of_tasks = [path for path in asked.paths if is_tasks_file(path)]
    if not of_tasks:
        return Gathered(loaded=tuple(gather(DistillAsked(asked.paths)).loaded))
    if len(asked.paths) > 1:
        raise CliError(f"{of_tasks[0]} is a tasks file: give it alone, or trajectories only")
    try:
        tasks = read_tasks(of_tasks[0])
        check_named(tasks, asked.checkers)
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error
    return Gathered(tasks=tuple(tasks))


def is_tasks_file(path: Path) -> bool:
    """Whether the first record of a file is a task that can be judged, not a run of one."""
    if not path.is_file():
        return False
    try:
        with path.open(encoding="utf-8-sig") as file:
            first = json.loads(next((line for line in file if line.strip()), ""))
    except (OSError, ValueError):
        return False
    runs = {"steps", "trajectory", "messages", "progress"}
    return isinstance(first, dict) and isinstance(first.get("task"), str) and not runs & set(first)


def contexts(flags: Flags, settings: Settings, trials: int | None) -> tuple[SynthesizerContext, Context]:
    """The synthesis's Context and the agent's: a --set of the former's settings is for it, any other is for
    the agent. Raises CliError."""

    own = [item for item in flags.sets if item.partition("=")[0].strip() in SynthesizerContext.model_fields]
    others = tuple(item for item in flags.sets if item not in own)
    agent = context_from_flags(Flags(flags.model, flags.base_url, flags.db, others, flags.tools), settings)
    values: dict[str, Any] = {"model": agent.model}
    for item in own:
        key, equals, text = (part.strip() for part in item.partition("="))
        if not equals:
            raise CliError(f"--set {one_line(item)}: write KEY=VALUE")
        values[key] = _value(key, text)
    if trials is not None:
        values["trials"] = trials
    try:
        context = bounded(SynthesizerContext.model_validate(values), settings)
        return context, bounded(agent, settings)
    except ValidationError as error:
        first = error.errors()[0]
        given = one_line(first.get("input"))
        raise CliError(f"--set {first['loc'][0]}: {given!r}: {first['msg'].lower()}") from error
    except ValueError as error:
        raise CliError(str(error)) from error


def _value(key: str, text: str) -> Any:
    if key == "model":
        return text
    if text.lower() == "none":
        return None
    try:
        return json.loads(text.lower())
    except ValueError:
        return text
