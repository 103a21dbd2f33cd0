"""A subtask's description: the planner's words, and which of several planned calls the subtask makes."""

from __future__ import annotations

_ONLY = "\nOf this only: "


def for_one_call(description: str, call: str) -> str:
    """The description of a subtask that makes one of several calls: whoever continues it learns which."""
    return f"{description}{_ONLY}{call}"


def own_words(description: str) -> tuple[str, bool]:
    """The planner's words, for a person who sees the call; and whether it is one of several calls."""
    words, added, _ = description.partition(_ONLY)
    return words, bool(added)
