"""What a reader of a format is: a name, what it is known by, and two functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from forethought.trajectories.types import Loaded


@dataclass(frozen=True)
class Format:
    """A format that trajectories are read from; a value is JSON, or the text of a log."""

    name: str
    looked_for: str
    """What it is known by, for those whose file is not."""
    claims: Callable[[Any], bool]
    """Whether a value is in it."""
    read: Callable[[Any, str], list[Loaded]]
    """The trajectories of a value that is; the name is for those that have none."""
