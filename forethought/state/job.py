"""A piece of a wave's work, for graphs whose waves are of several kinds."""

from __future__ import annotations

from typing_extensions import TypedDict


class Job(TypedDict):
    """What a node of a wave is started with; it reads the rest of the state itself."""

    node: str
    key: str
