"""How the room of a prompt is shared out among texts of a kind, and how many of them are shown."""

from __future__ import annotations

MANY = 150
"""Maximum items of a kind (steps, results) shown one by one: the newest."""
LINE_CHARS = 200
"""Characters of a text in one line, and the least that remains of one text among many."""


def share(room: int, count: int) -> int:
    """How many characters of `room` each of `count` texts may have: a line at least."""
    return max(LINE_CHARS, doubling_share(room, count))


def doubling_share(room: int, count: int) -> int:
    """An equal part of `room` for each of `count` texts. It changes only as the count doubles, so that a
    prompt that grows seldom changes what it said before."""
    return room >> (max(count, 1) - 1).bit_length()


def most(room: int, each: int) -> int:
    """How many things of a kind are shown one by one, of which each takes `each` at least."""
    return max(1, min(MANY, room // each))


def cut_off(count: int, many: int) -> int:
    """How many of `count` are not among the newest, which are at most `many`: it grows in batches."""
    batch = max(many // 2, 1)
    return max(-(-(count - many) // batch), 0) * batch
