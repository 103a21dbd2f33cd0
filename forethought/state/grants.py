"""The calls that a person asked for, as the channel `grants` holds them."""

from __future__ import annotations

from typing_extensions import TypedDict  # pydantic needs it below Python 3.12


class Grant(TypedDict):
    """A call that the person asked for."""

    tool: str
    arguments: dict[str, list[str]]
    """Allowed values by argument; `any` for content that the person leaves open."""
    times: int
    """Highest number of such calls to the same targets."""
    condition: str
    """Condition that the person set ('': none)."""


class ReadGrants(TypedDict):
    """The grants of the thread, and the words that they were read from."""

    key: str
    """Hash of the prompt: other words are read anew."""
    grants: list[Grant]
    problem: str
    """Why the words were not read ('': they were)."""
