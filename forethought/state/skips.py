"""A mechanism that a rule of `effort` left out."""

from __future__ import annotations

from typing_extensions import TypedDict  # the server's schemas need it below Python 3.12


class Skip(TypedDict):
    """One skip."""

    n: int
    """Number of the last step before it."""
    task: int
    mechanism: str
    """The switch of the mechanism."""
    rule: str
    """Its id in nodes/support/effort.yaml."""
    why: str
