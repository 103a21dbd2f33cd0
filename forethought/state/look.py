"""What is seen of a task's files before the first plan."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict  # the server's schemas need it below Python 3.12


class FileLook(TypedDict):
    """What is shown of one file."""

    name: str
    shown: Literal["whole", "part", "nothing"]
    """'part': an outline and what bears on the task."""
    text: str
    """As `read_file` shows it. Of a file that cannot be read as text, one line that says why."""


class Sign(TypedDict):
    """A line that by its form may be a rule, an exception, a correction or the like."""

    kind: str
    place: str
    """The file, and where in it: 'terms.pdf, page 3'; 'task'."""
    text: str
    """Its words, in short."""
    more: int
    """How many like it there are besides."""
    origin: str
    """`file:NAME`, or `user` for a condition of the task."""


class Look(TypedDict):
    """A first look at all files of a thread, for one task."""

    files: list[FileLook]
    unseen: int
    """How many files are not even named here."""
    signs: list[Sign]
    """The task's, and those of the files that rank highest or share most words with it, in order."""
    more_signs: int
    """How many of the files' are left out."""
