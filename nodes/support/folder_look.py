"""A first look at a run's folders, before the first plan and without a model.

The index gives the numbers and kinds of files, their names or groups of names, the files that hold what the
task names, and the passages that fit it best. The look always says how many files it does not show, and names
the tools that reach them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from forethought.nodes.support.folder_keys import SMALL, keys_of
from forethought.nodes.support.signs import mark_of, other_versions
from forethought.sizes import extent
from forethought.state.look import FolderLook
from forethought.text import cut, how_many, one_line
from forethought.tools.documents.document import EMPTY_SHEET
from forethought.tools.folders.given import Folders
from forethought.tools.folders.listing import sized, tree
from forethought.tools.folders.records import Entry, Hit
from forethought.tools.folders.words import tokens
from forethought.tools.read_each import estimate

_QUERY = 4_000
_HITS = 8
_WITH_KEYS = 3
"""Passages by their words alone, where there are files that hold what the task names."""
_LIKE = 0.55
"""Least score of a passage, as a share of the best one's."""
_NAMES = 0.25
"""The share of the names in the room."""
_ROWS = 4
"""Rows of a table that are shown of a passage."""
_UNREADABLE = 5
"""Files that cannot be read, by name."""
_VERSIONS = 4
_ALONE = 2
_GAPS, _PAGE = re.compile(r"\n\s*\n"), re.compile(r"^#+ Page 1 of 1\n+")


def look_at_folders(folders: Folders, task: str, room: int) -> tuple[FolderLook, int]:
    """Write the look, and count the files that it does not show. Blocking.

    Args:
        folders: The run's folders.
        task: The task, for the choice of passages.
        room: Bytes.
    """
    entries = folders.entries()
    sizes = {entry.name: entry.characters for entry in entries}
    found = folders.search(task[:_QUERY], 2 * _HITS)
    hits = [hit for hit in found if EMPTY_SHEET not in hit.text][:_HITS]
    keys = keys_of(folders, task[:_QUERY], hits, sizes)
    names = _names(entries, int(room * _NAMES))
    news = [f"{ref['name']} since the last task: {ref['news']}." for ref in folders.refs if ref.get("news")]
    absent = [f"No file holds {key.label}." for key in keys if not key.hits]
    summary = " ".join([_summary(entries), *news, *absent])
    pages = _Passages(folders, task, entries, sizes, room - extent(summary + names) - 600)
    for key in keys:
        if key.hits:
            pages.add(key.hits, key.label)
    held = "; ".join(f"{label}: {how_many(count, 'file')}" for label, count in pages.whole.items())
    texts = [f"Files that hold {held}. Here are all of them:", *pages.shown.values()] if held else []
    like = [hit for hit in hits if hit.score >= hits[0].score * _LIKE and hit.name not in pages.shown]
    pages.add(like[: _WITH_KEYS if held else _HITS])
    pages.add([Hit(entry.name, "", "", "", 0, 0) for entry in _alone(entries)])
    if others := [*pages.shown.values()][max(len(texts) - 1, 0) :]:
        others.insert(0, "Passages of other files that share words with the task; more may matter:")
    unseen = len(entries) - len(pages.shown)
    rest = (
        f"{how_many(unseen, 'file')} of {len(entries):,} have no passage here. find_files lists files,"
        " search_files searches all of them at once, read_file shows one."
        f" read_each over all of them takes about {_price(entries)}."
    )
    look = FolderLook(
        summary=summary, names=names, held="\n\n".join(texts), passages="\n\n".join(others), rest=rest
    )
    return look, unseen


@dataclass
class _Passages:
    """The passages that are shown, each file once."""

    folders: Folders
    task: str
    entries: Sequence[Entry]
    sizes: Mapping[str, int]
    room: int
    shown: dict[str, str] = field(default_factory=dict)
    """The text of each file that has a passage."""
    whole: dict[str, int] = field(default_factory=dict)
    """The keys of which all files are shown, with their number."""

    def add(self, hits: Sequence[Hit], label: str = "") -> None:
        """Show passages while there is room; the files of a key all or none."""
        texts = {hit.name: self._text(hit) for hit in hits if hit.name not in self.shown}
        size = sum(extent(text) + 2 for text in texts.values())
        if label and size <= self.room:
            self.whole[label] = len(hits)
        elif label:
            return
        for name, text in texts.items():
            self.room -= extent(text) + 2
            if self.room < 0:
                break
            self.shown[name] = text

    def _text(self, hit: Hit) -> str:
        others = self._versions.get(hit.name, [])[:_VERSIONS]
        note = f" Other versions: {', '.join(others)} {mark_of('version')}" if others else ""
        text, place = hit.text, f", {hit.place}"
        if self.sizes[hit.name] <= SMALL:
            text, place = self.folders.text(hit.name).strip(), ""
        elif text.startswith("|"):
            text = self._rows(hit)
        elif hit.heading and hit.heading.split(" > ")[-1] not in text[:200]:
            place += f" [{hit.heading}]"
        text = cut(_GAPS.sub("\n", _PAGE.sub("", text)), max(self.room // 3, 200), tail=0)
        return f"{hit.name}{place}:{note}\n{text}"

    @cached_property
    def _versions(self) -> Mapping[str, Sequence[str]]:
        return other_versions([entry.name for entry in self.entries])

    def _rows(self, hit: Hit) -> str:
        """Of a table's rows those that share most words with the task."""
        wanted = set(tokens(self.task, "english"))
        rows = [(len(wanted.intersection(tokens(row, "english"))), row) for row in hit.text.split("\n")]
        best = max(score for score, _ in rows)
        kept = [row for score, row in rows if score == best][:_ROWS]
        left = len(rows) - len(kept)
        return "\n".join([f"[{hit.heading}]", *kept, *([f"[{left} more rows here]"] if left else [])])


def _alone(entries: Sequence[Entry]) -> list[Entry]:
    """Small files without any like them in their folder, such as a rule: the task seldom shares its words."""
    above = Counter(entry.name.rpartition("/")[0] for entry in entries)
    alone = [entry for entry in entries if above[entry.name.rpartition("/")[0]] <= _ALONE]
    return [entry for entry in alone if 0 < entry.characters <= SMALL][:_ALONE]


def _price(entries: Sequence[Entry]) -> str:
    """Calls and tokens of one question to all files, copies once."""
    sizes = {entry.hash: entry.characters for entry in entries if not entry.reason}
    calls, tokens, replies = estimate(len(sizes), sum(sizes.values()), fields=2)
    return f"{how_many(calls, 'model call')} and {round(tokens + replies, -3):,} tokens"


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


def _names(entries: Sequence[Entry], room: int) -> str:
    """All names by folder if they fit; else the folders with their kinds of files and groups of names."""
    folders: dict[str, list[Entry]] = {}
    for entry in entries:
        folders.setdefault(entry.name.rpartition("/")[0], []).append(entry)
    lines = [
        f"{above + '/: ' if above else ''}{', '.join(entry.name.rpartition('/')[2] for entry in own)}"
        for above, own in folders.items()
    ]
    if extent(text := "\n".join(lines)) <= room:
        return f"All names:\n{text}"
    return "Folders, with some of the names:\n" + "\n".join(tree(entries, room))
