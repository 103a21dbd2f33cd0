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
    """The format's marks, for messages about unknown files."""
    claims: Callable[[Any], bool]
    """Whether a value is in this format."""
    read: Callable[[Any, str], list[Loaded]]
    """Reads the trajectories of such a value; `name` is for those without an id."""
