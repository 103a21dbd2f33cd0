"""A first look at a run's folders, before the first plan and without a model.

Its index gives all of it: how many files of which kinds, their names or groups of names, and the passages of
the whole folder that fit the task best. It always says how many files are not shown, and what reaches them.
"""

from __future__ import annotations

from collections.abc import Sequence

from forethought.nodes.support.signs import mark_of, other_versions
from forethought.sizes import extent
from forethought.text import cut, how_many, one_line
from forethought.tools.folders.given import Folders
from forethought.tools.folders.listing import grouped, sized, tree
from forethought.tools.folders.records import Entry, Hit

_QUERY = 4_000
_HITS = 12
_TREE, _NAMES = 0.1, 0.35
"""Shares of the room: folders with counts, and names. Passages have the rest."""
_UNREADABLE = 5
"""Files that cannot be read, by name."""
_VERSIONS = 4
_MANY = 60
"""Groups of names from which they tell little: they have a third of their room."""


def look_at_folders(folders: Folders, task: str, room: int) -> tuple[str, int]:
    """What a prompt shows of the folders, and how many files it does not show. Blocking.

    Args:
        folders: The run's folders.
        task: What is to be done: passages that fit it are shown.
        room: Bytes.
    """
    entries = folders.entries()
    hits = folders.search(task[:_QUERY], _HITS)
    names, all_named = _names(entries, int(room * _NAMES))
    parts = [
        _summary(entries),
        "Folders:\n" + "\n".join(tree(entries, int(room * _TREE))),
        ("All names:\n" if all_named else "Names, alike ones as a range:\n") + names,
    ]
    left = room - sum(map(extent, parts)) - 400
    shown = _passages(hits, entries, left)
    if shown:
        parts.append(
            "Passages of all these files that share most words with the task. Others may matter as much:\n\n"
            + "\n\n".join(text for _, text in shown)
        )
    seen = len({name for name, _ in shown})
    unseen = len(entries) - seen
    parts.append(
        f"Not shown: the text of {how_many(unseen, 'file')} of {len(entries):,}, and the rest of the {seen}"
        " above."
        " find_files lists files, search_files searches all of them at once, read_file shows one."
    )
    return "\n\n".join(parts), unseen


def _summary(entries: Sequence[Entry]) -> str:
    size = sum(entry.size for entry in entries)
    text = f"{how_many(len(entries), 'file')}, {sized(size)}."
    if unreadable := [entry for entry in entries if entry.reason]:
        some = "; ".join(one_line(f"{entry.name} {entry.reason}", 160) for entry in unreadable[:_UNREADABLE])
        more = f"; {len(unreadable) - _UNREADABLE:,} more" if len(unreadable) > _UNREADABLE else ""
        text += f" {len(unreadable):,} cannot be read: {some}{more}."
    if copies := len(entries) - len({entry.hash or entry.name for entry in entries}):
        text += f" {how_many(copies, 'file')} {'is a copy' if copies == 1 else 'are copies'} of others."
    return text


def _names(entries: Sequence[Entry], room: int) -> tuple[str, bool]:
    """The names by folder if they fit, else groups; and whether each is there."""
    folders: dict[str, list[str]] = {}
    for entry in entries:
        above, _, own = entry.name.rpartition("/")
        folders.setdefault(above, []).append(own)
    lines = [f"{above}/: {', '.join(own)}" if above else ", ".join(own) for above, own in folders.items()]
    text = "\n".join(lines)
    if extent(text) <= room:
        return text, True
    groups = grouped(entries, room)
    return "\n".join(groups if len(groups) < _MANY else grouped(entries, room // 3)), False


def _passages(hits: Sequence[Hit], entries: Sequence[Entry], room: int) -> list[tuple[str, str]]:
    """The best passages that fit, with their files' names."""
    versions = other_versions([entry.name for entry in entries])
    shown: list[tuple[str, str]] = []
    for hit in hits:
        heading = f" [{hit.heading}]" if hit.heading else ""
        others = versions.get(hit.name, [])[:_VERSIONS]
        note = f" Other versions: {', '.join(others)} {mark_of('version')}" if others else ""
        text = f"{hit.name}, {hit.place}{heading}:{note}\n{cut(hit.text, max(room // 3, 200), tail=0)}"
        if (size := extent(text) + 2) > room:
            break
        shown.append((hit.name, text))
        room -= size
    return shown
