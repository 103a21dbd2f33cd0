"""The folder of a collection: what it was begun with, and a trajectory and a record for each finished run.

    collection.json             trials, model, Context, and the tasks with their fingerprints
    trajectories/TASK--N.json   the run and its outcome, in the project's own form
    trials/TASK--N.json         what it cost and who judged it; written last, so that it says the run is whole
    threads.sqlite              the runs' checkpoints: a run that was broken off goes on at its last step

Every file is written whole or not at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from forethought.models.types import Usage
from forethought.trajectories.questions import fingerprint
from forethought.trajectories.tasks import CollectTask
from forethought.trajectories.types import Loaded, Outcome

Json = dict[str, Any]


class Trial(TypedDict):
    """One finished run."""

    task: str
    """The task's id."""
    trial: int
    """From 1."""
    status: str
    """The run's own: answered, best_effort, ..."""
    outcome: Outcome
    by: str
    reason: str
    usage: Usage
    seconds: float


_TRIAL: TypeAdapter[Trial] = TypeAdapter(Trial)


class CollectionError(ValueError):
    """A folder that cannot be used; one line that says what to do."""


def key_of(task: str, trial: int) -> str:
    """How a run is named: its files, and its thread."""
    return f"{task}--{trial}"


@dataclass(frozen=True)
class Folder:
    """A collection's folder."""

    root: Path

    @property
    def database(self) -> Path:
        """Where the runs' checkpoints are."""
        return self.root / "threads.sqlite"

    def open(self, tasks: Sequence[CollectTask], choices: Mapping[str, Any]) -> None:
        """Begin the collection, or go on with it: further tasks and trials may come, nothing may differ.

        Raises CollectionError.
        """
        prints = {task.id: fingerprint(task.task) for task in tasks}
        path = self.root / "collection.json"
        try:
            for name in ("trajectories", "trials"):
                (self.root / name).mkdir(parents=True, exist_ok=True)
            order: Json = _record(path) if path.exists() else {}
            known: Json = order.get("tasks", {})
            if not isinstance(known, dict):
                raise ValueError("tasks is no object")
        except OSError as error:
            raise CollectionError(
                f"{self.root}: cannot be written to ({error.strerror}); name another --out"
            ) from error
        except ValueError as error:
            raise CollectionError(f"{path}: damaged ({error}); name another --out") from error
        for name, value in choices.items():
            if order and order.get(name) != value:
                raise CollectionError(
                    f"{self.root} was begun with another {name.replace('_', ' ')}; name another --out, or "
                    "use the same"
                )
        changed = [id for id in prints if id in known and known[id] != prints[id]]
        if changed:
            raise CollectionError(
                f"{self.root}: the task {changed[0]} had another text when it was run; give the changed task "
                "a new id"
            )
        _write(path, {**choices, "tasks": {**known, **prints}})

    def trials(self) -> list[Trial]:
        """The finished runs. Raises CollectionError."""
        found: list[Trial] = []
        for path in sorted((self.root / "trials").glob("*.json")):
            try:
                found.append(_TRIAL.validate_python(_record(path)))
            except ValidationError as error:
                raise CollectionError(f"{path}: damaged; remove it to run it again") from error
            except (OSError, ValueError) as error:
                raise CollectionError(
                    f"{path}: cannot be read ({error}); remove it to run it again"
                ) from error
        return found

    def loaded(self, trial: Trial) -> Loaded:
        """A finished run's trajectory. Raises CollectionError."""
        path = self._trajectory(trial)
        try:
            return Loaded.model_validate_json(path.read_bytes())
        except (OSError, ValueError) as error:
            raise CollectionError(
                f"{path}: cannot be read; remove the run's files to run it again"
            ) from error

    def keep(self, trial: Trial, loaded: Loaded) -> None:
        """Keep a finished run. Raises OSError."""
        _write(self._trajectory(trial), loaded.model_dump(mode="json", exclude_defaults=True))
        _write(self.root / "trials" / f"{key_of(trial['task'], trial['trial'])}.json", trial)

    def summarise(self, summary: Mapping[str, Any]) -> None:
        """Write what the collection came to."""
        _write(self.root / "summary.json", summary)

    def _trajectory(self, trial: Trial) -> Path:
        return self.root / "trajectories" / f"{key_of(trial['task'], trial['trial'])}.json"


def mixed(trials: Iterable[Trial]) -> list[str]:
    """Ids of the tasks whose runs had both outcomes, in the order in which they first appear."""
    outcomes: dict[str, set[str]] = {}
    for trial in trials:
        outcomes.setdefault(trial["task"], set()).add(trial["outcome"])
    return [task for task, seen in outcomes.items() if {"success", "failure"} <= seen]


def _record(path: Path) -> Json:
    """The JSON object in a file. Raises OSError, and ValueError for anything else."""
    try:
        value = json.loads(path.read_text("utf-8"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    return value


def _write(path: Path, value: Mapping[str, Any]) -> None:
    beside = path.with_name(f".{path.name}.part")
    with beside.open("w", encoding="utf-8", errors="replace") as file:
        json.dump(value, file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
