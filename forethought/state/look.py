"""What is seen of a task's files before the first plan."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict  # the server's schemas need it below Python 3.12


class FileLook(TypedDict):
    """What is shown of one file."""

    name: str
    shown: Literal["whole", "part", "nothing"]
    """'part': an outline and the parts that bear on the task."""
    text: str
    """As `read_file` shows it, or one line that says why the file cannot be read."""


class Sign(TypedDict):
    """A line that by its form may be a rule, an exception, a correction or the like."""

    kind: str
    place: str
    """The file and the place in it, such as 'terms.pdf, page 3'; or 'task'."""
    text: str
    """Its words, shortened."""
    more: int
    """How many similar signs there are."""
    origin: str
    """`file:NAME`, or `user` for a condition of the task."""


class Look(TypedDict):
    """A first look at all files of a thread, for one task."""

    files: list[FileLook]
    unseen: int
    """How many further files there are."""
    signs: list[Sign]
    """The task's signs, then those of the files with the highest rank or the most words in common with it."""
    more_signs: int
    """How many signs of files are left out."""
