"""The format of what a tool returns, and whether it has changed (SAMULE 3.2.3, by rules).

Only formats that programs write are told apart: JSON, XML or HTML, and tables of lines with one separator;
any other text is prose, and prose says nothing. A change is what differs from the last two answers of the
same tool, if those two agree with each other: so a change is found once, where it happens.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from forethought.tools.base import Tool

_ALIKE = 0.5
"""Share of names in common, of all names, from which on two records have the same format."""
_SEPARATORS = (",", ";", "\t", "|")
_TAG = re.compile(r"<\s*([A-Za-z][\w:.-]*)")
_NAMES_SHOWN = 8
_LONGEST = 200_000
"""Characters; longer text is not read for its format."""


@dataclass(frozen=True)
class Shape:
    """A format: what kind, and the names of its parts (keys, columns or tags)."""

    kind: str
    names: frozenset[str] = frozenset()

    def told(self) -> str:
        """In words."""
        shown = ", ".join(sorted(self.names)[:_NAMES_SHOWN])
        return f"{self.kind} with {shown}" if shown else self.kind

    def like(self, other: Shape) -> bool:
        """Whether both are one format; parts that are sometimes left out do not make another."""
        if self.kind != other.kind:
            return False
        both = self.names | other.names
        return not self.names or not other.names or len(self.names & other.names) / len(both) >= _ALIKE


def shape_of(text: str) -> Shape:
    """The format of `text`."""
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return Shape("prose")
    return _json(text) or _markup(text) or _table(text) or Shape("prose")


def comparable(tool: Tool) -> bool:
    """Whether one call's format tells anything of the next one's: an interface of one's own answers alike,
    but documents and pages differ, and so does what a program prints."""
    return tool.name not in _DIFFERENT


_DIFFERENT = frozenset(
    ("python", "read_file", "visit_webpage", "web_search", "inspect_image", "inspect_audio", "ask_user")
)


def changed(earlier: Sequence[str], text: str) -> str:
    """How the format of `text` differs from that of the `earlier` answers, oldest first; '' if it does
    not."""
    if len(earlier) < 2:
        return ""
    before, last, now = shape_of(earlier[-2]), shape_of(earlier[-1]), shape_of(text)
    if not before.like(last) or last.like(now):
        return ""
    return f"the format of the answer changed: before it was {last.told()}, now it is {now.told()}"


def _json(text: str) -> Shape | None:
    if text[0] not in "[{":
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        return Shape("a JSON object", frozenset(value))
    rows = [row for row in value if isinstance(row, dict)]
    return Shape("a JSON list", frozenset(key for row in rows for key in row))


def _markup(text: str) -> Shape | None:
    if text[0] != "<" or text[-1] != ">":
        return None
    tags = _TAG.findall(text)
    return Shape("markup", frozenset(tag.casefold() for tag in tags)) if tags else None


def _table(text: str) -> Shape | None:
    """Two or more lines of which each has as many cells as the first, which names the columns."""
    lines = [line for line in text.splitlines() if line.strip()]
    for separator in _SEPARATORS:
        if len(lines) < 2 or any(separator not in line for line in lines):
            continue
        try:
            rows = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=separator))
        except csv.Error:
            continue
        if len({len(row) for row in rows}) == 1 and not any(_numeric(cell) for cell in rows[0]):
            names = (cell.strip().casefold() for cell in rows[0])
            return Shape(f"a table parted by {separator!r}", frozenset(name for name in names if name))
    return None


def _numeric(cell: str) -> bool:
    return bool(re.fullmatch(r"\s*[-+]?[\d.,]+\s*", cell))
