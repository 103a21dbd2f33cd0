"""A long text in parts, and the places where something occurs in it."""

from __future__ import annotations

import re

PART = 12_000
"""Characters a part, at most."""
_AROUND = 400
"""Most characters shown before and after an occurrence."""
_LINES = 2
"""Lines shown before and after an occurrence, where they are not too long."""


def split_parts(text: str, size: int = PART) -> list[str]:
    """Cut at line ends where there are any in a part's second half; joined, the parts are the text."""
    parts, start = [], 0
    while len(text) - start > size:
        cut = text.rfind("\n", start + size // 2, start + size) + 1 or start + size
        parts.append(text[start:cut])
        start = cut
    return [*parts, text[start:]]


def find_passages(text: str, wanted: str) -> list[tuple[int, str]]:
    """(offset, passage) where `wanted` occurs, whatever the case; places that overlap are one."""
    spans: list[tuple[int, int]] = []
    for match in re.finditer(re.escape(wanted), text, re.IGNORECASE):
        start, end = _around(text, match.start(), match.end())
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return [(start, text[start:end]) for start, end in spans]


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    before = text[max(0, start - _AROUND) : start].split("\n")[-(_LINES + 1) :]
    after = text[end : end + _AROUND].split("\n")[: _LINES + 1]
    return start - len("\n".join(before)), end + len("\n".join(after))
