"""The project's own form: a `Trajectory`, or a `Loaded` with its reference beside it."""

from __future__ import annotations

from forethought.trajectories.format import Format
from forethought.trajectories.types import Loaded, Trajectory
from forethought.trajectories.values import mapping


def claims(value: object) -> bool:
    """Whether `value` has the parts of one."""
    whole = mapping(value)
    inner = mapping(whole.get("trajectory"))
    steps = (inner or whole).get("steps", [] if inner else None)
    numbered = isinstance(steps, list) and all("number" in mapping(step) for step in steps)
    return numbered and "task" in (inner or whole) and "progress" not in whole


def read(value: object, name: str) -> list[Loaded]:
    """The trajectory in `value`, as it stands. Raises ValidationError."""
    whole = mapping(value)
    if "trajectory" in whole:
        return [Loaded.model_validate(whole)]
    return [Loaded(trajectory=Trajectory.model_validate({"id": name, **whole}))]


VALIDATED = Format("forethought trajectory", "task, steps with number", claims, read)
