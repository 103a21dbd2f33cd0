"""Recorded trajectories for the debugger: from a file or a folder, and the world that they ran in."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from forethought.app.debug.choices import Asked
from forethought.app.errors import CliError
from forethought.app.text import one_line

if TYPE_CHECKING:
    from forethought.nodes.debugger.services import MakeRollouts
    from forethought.rollouts.types import Environment, Rollouts
    from forethought.settings import Settings
    from forethought.state.debugger import DebuggerContext
    from forethought.trajectories.types import Loaded, Trajectory

_LISTED = 10
"""Most ids that are listed to choose from."""
_STEPS = 50
"""Of a re-run in an environment, kept steps included; as many as the recorded run had, if that was longer."""


def one_trajectory(path: Path, asked: Asked) -> Loaded:
    """The trajectory that is asked for. Raises CliError when there is none, or the choice is not clear."""
    if path.is_dir():
        raise CliError(f"{path} is a folder: name one file, or measure on all of it with --score")
    found = read(path)
    if asked.pick is None:
        if len(found) == 1:
            return found[0]
        raise CliError(f"{path} holds {len(found)} trajectories: choose one with --pick: {_ids(found)}")
    fitting = [loaded for loaded in found if loaded.trajectory.id == asked.pick]
    if len(fitting) != 1:
        raise CliError(f"{path} holds no trajectory {one_line(asked.pick, 60)!r}; there are: {_ids(found)}")
    return fitting[0]


def read(path: Path) -> list[Loaded]:
    """All trajectories in a file. Raises CliError when it cannot be read, or is not one."""
    from forethought.trajectories.read import read_trajectories

    try:
        return read_trajectories(path)
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error


def annotated(path: Path) -> list[Loaded]:
    """The trajectories of a folder, or of a file, whose critical error a person has labelled.

    Raises CliError when there is none.
    """
    from forethought.evals.annotations import read_annotated
    from forethought.knowledge.error_taxonomy import load_taxonomy

    if path.is_dir():
        try:
            return read_annotated(path, load_taxonomy())
        except ValueError as error:
            raise CliError(one_line(error, 1000)) from error
    found = [loaded for loaded in read(path) if loaded.reference.annotation]
    if not found:
        raise CliError(f"{path}: no trajectory in it has an annotation to measure against")
    return found


def _ids(found: list[Loaded]) -> str:
    shown = ", ".join(one_line(loaded.trajectory.id, 60) for loaded in found[:_LISTED])
    return f"{shown}, … {len(found) - _LISTED} more" if len(found) > _LISTED else shown


def make_environment(spec: str, trajectory: Trajectory) -> Environment:
    """What MODULE:NAME makes of the trajectory: the world that it ran in.

    The module is the caller's own, as that of --tools is. Raises CliError when it gives no environment.
    """
    module, colon, name = spec.partition(":")
    if not colon or not module or not name:
        raise CliError(f"--environment {one_line(spec, 60)}: write MODULE:NAME")
    if str(Path.cwd()) not in sys.path:
        # Last, so that a file that happens to lie here takes no installed module's place.
        sys.path.append(str(Path.cwd()))
    try:
        made: Any = getattr(import_module(module), name)(trajectory)
    except Exception as error:
        # Whatever the module does, the line has to name it.
        what = f"{type(error).__name__}: {one_line(error, 200)}"
        raise CliError(f"--environment {one_line(spec, 60)}: {what}") from error
    missing = [part for part in ("name", "task", "reset", "step") if not hasattr(made, part)]
    if missing:
        raise CliError(
            f"--environment {one_line(spec, 60)}: what it makes has no {' and no '.join(missing)}; see "
            "forethought.rollouts.types.Environment"
        )
    return cast("Environment", made)


def environment_rollouts(environment: Environment, settings: Settings) -> MakeRollouts:
    """Re-runs of a trajectory in the world that it ran in: the debugger's model acts there."""
    from forethought.models import Models
    from forethought.rollouts.environment import EnvironmentRollouts
    from forethought.rollouts.policy import ModelPolicy

    def make(trajectory: Trajectory, thread_id: str | None, context: DebuggerContext) -> Rollouts:
        policy = ModelPolicy(Models(settings), context.model, context.max_observation_chars)
        steps = max(_STEPS, len(trajectory.steps))
        return EnvironmentRollouts(
            environment, policy, trajectory, steps, max_tokens=context.max_tokens, max_usd=context.max_usd
        )

    return make
