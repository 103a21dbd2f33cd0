"""Names of many files in few lines: by folder, numbered names as one range."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePosixPath

from forethought.text import how_many
from forethought.tools.folders.records import Entry

_NUMBER = re.compile(r"\d+")
_SOME = 2
"""Names or groups of names of a folder in a tree."""
_LEAST = 3
"""Minimum number of similar names that become one line."""


def listed(entry: Entry) -> str:
    """A file in a line: name, size, date, and why it cannot be read."""
    date = datetime.fromtimestamp(entry.modified / 1e9, UTC).date().isoformat() if entry.modified else ""
    facts = ", ".join(
        filter(None, (sized(entry.size), date, entry.reason and f"cannot be read: {entry.reason}"))
    )
    return f"{entry.name} ({facts})"


def sized(size: int) -> str:
    """A size in kB or MB."""
    return f"{size / 1_000_000:.1f} MB" if size >= 1_000_000 else f"{-(-size // 1_000)} kB"


def tree(entries: Sequence[Entry], room: int) -> list[str]:
    """The folders with their kinds of files and some of the names, in about `room` characters: the largest
    first."""
    folders: dict[str, list[Entry]] = {}
    for entry in entries:
        above = str(PurePosixPath(entry.name).parent)
        folders.setdefault("(top)" if above == "." else f"{above}/", []).append(entry)
    lines = []
    for name, own in sorted(folders.items(), key=lambda item: (-len(item[1]), item[0])):
        kinds = Counter(entry.kind or "no ending" for entry in own).most_common(6)
        names = grouped([replace(entry, name=PurePosixPath(entry.name).name) for entry in own], 1 << 30)
        some = "; ".join([*names[:_SOME], *["..."][: len(names) - _SOME]])
        lines.append(f"{name} {', '.join(f'{number:,} {kind}' for kind, number in kinds)}: {some}")
    return _within(lines, room, "folders")


def grouped(entries: Iterable[Entry], room: int) -> list[str]:
    """All names in about `room` characters: those that differ in one number as a range."""
    groups: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        above, _, own = entry.name.rpartition("/")
        groups.setdefault((above, _NUMBER.sub("#", own)), []).append(entry.name)
    ranges: list[tuple[int, str]] = []
    singles: list[str] = []
    for (_, form), names in groups.items():
        if len(names) < _LEAST or "#" not in form:
            singles += names
        else:
            ranges.append((len(names), _range(names)))
    ranges.sort(key=lambda item: (-item[0], item[1]))
    return _within([*(line for _, line in ranges), *singles], room, "names or groups")


def _range(names: Sequence[str]) -> str:
    """'contracts/contract-1000 ... 1149.docx, 150 files'."""
    ordered = sorted(names, key=lambda name: [int(number) for number in _NUMBER.findall(name)])
    first, last = ordered[0], ordered[-1]
    suffix = PurePosixPath(first).suffix
    shared = 0
    while shared < min(len(first), len(last)) and first[shared] == last[shared]:
        shared += 1
    while shared and first[shared - 1].isdigit():
        shared -= 1
    return f"{first.removesuffix(suffix)} ... {last[shared:]}, {how_many(len(names), 'file')}"


def _within(lines: Sequence[str], room: int, what: str) -> list[str]:
    kept: list[str] = []
    for at, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0 and kept:
            return [*kept, f"... and {len(lines) - at:,} more {what}"]
        kept.append(line)
    return kept
