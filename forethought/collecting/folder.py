"""The folder of a collection: what it was begun with, and a trajectory and a record for each finished run.

    collection.json             trials, model, Context, and the tasks with their fingerprints
    trajectories/TASK--N.json   the run and its outcome, in the project's own form
    trials/TASK--N.json         what it cost and who judged it; written last, so that it says the run is whole
    threads.sqlite              the runs' checkpoints: a run that was broken off goes on at its last step

Every file is written whole or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from forethought.json_files import FileError, read_object, write_json
from forethought.models.types import Usage
from forethought.trajectories.questions import fingerprint
from forethought.trajectories.tasks import CollectTask
from forethought.trajectories.types import Loaded, Outcome


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

        Raises FileError.
        """
        prints = {task.id: fingerprint(task.task) for task in tasks}
        path = self.root / "collection.json"
        begun = read_object(path) if path.exists() else {}
        known = begun.get("tasks", {})
        for name, value in choices.items():
            if begun and begun.get(name) != value:
                raise FileError(
                    f"{self.root} holds runs with another {name.replace('_', ' ')}; use the same one, or "
                    "name another --out"
                )
        if changed := [id for id in prints if id in known and known[id] != prints[id]]:
            raise FileError(
                f"{self.root}: the text of task {changed[0]} has changed since its runs; give the "
                "changed task a new id"
            )
        try:
            write_json(path, {**choices, "tasks": {**known, **prints}})
        except OSError as error:
            raise FileError(
                f"{self.root}: cannot be written to ({error.strerror}); name another --out"
            ) from error

    def trials(self) -> list[Trial]:
        """The finished runs. Raises FileError."""
        trials: list[Trial] = []
        for path in sorted((self.root / "trials").glob("*.json")):
            try:
                trials.append(_TRIAL.validate_python(read_object(path)))
            except ValidationError as error:
                raise FileError(f"{path}: damaged; remove it to run it again") from error
        return trials

    def loaded(self, trial: Trial) -> Loaded:
        """A finished run's trajectory. Raises FileError."""
        path = self._trajectory(trial)
        try:
            return Loaded.model_validate(read_object(path))
        except ValidationError as error:
            raise FileError(f"{path}: damaged; remove the run's files to run it again") from error

    def keep(self, trial: Trial, loaded: Loaded) -> None:
        """Keep a finished run. Raises OSError."""
        write_json(self._trajectory(trial), loaded.model_dump(mode="json", exclude_defaults=True))
        write_json(self.root / "trials" / f"{key_of(trial['task'], trial['trial'])}.json", trial)

    def _trajectory(self, trial: Trial) -> Path:
        return self.root / "trajectories" / f"{key_of(trial['task'], trial['trial'])}.json"
