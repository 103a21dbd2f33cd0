"""Records of an index: files, hits, contents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from forethought.tools.folders.passages import Passage


@dataclass(frozen=True)
class Entry:
    """A file of a folder."""

    name: str
    size: int
    modified: int
    hash: str
    """'' if it could not be opened."""
    characters: int
    """Of its text."""
    reason: str
    """Why it has no text ('': it has)."""

    @property
    def kind(self) -> str:
        """Its name's ending in lower case, such as 'docx'."""
        return PurePosixPath(self.name).suffix.lower().lstrip(".")


@dataclass(frozen=True)
class Hit:
    """A passage that fits a query."""

    name: str
    text: str
    place: str
    """'page 212', 'sheet June', or 'line 80'."""
    heading: str
    score: float
    start: int
    """Of the passage in the file's text."""


@dataclass(frozen=True)
class Content:
    """The text of a file in passages, or the reason why there is none."""

    hash: str
    text: str = ""
    passages: Sequence[Passage] = ()
    reason: str = ""
