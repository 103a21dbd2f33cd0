"""What is seen of a task's files before the first plan."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict  # the server's schemas need it below Python 3.12


class FileLook(TypedDict):
    """What is shown of one file."""

    name: str
    shown: Literal["whole", "part", "nothing"]
    """'part': an outline and the parts that bear on the task."""
    text: str
    """As `read_file` shows it, with marks such as `[sign: exception]`, or one line that says why the file
    cannot be read."""
    signs: int
    """How many lines are marked."""


class FolderLook(TypedDict):
    """The view of a run's folders."""

    summary: str
    """Numbers and kinds of files by folder, and the files that no tool can read."""
    names: str
    """All names, or groups of them; only those who plan see it."""
    held: NotRequired[str]
    """All files that hold a name or number of the task; '' if there are none, or too many."""
    passages: str
    """Other passages that fit the task best; only those who plan see them."""
    rest: str
    """The number of files without a passage, and the tools that reach them."""


class Look(TypedDict):
    """A first look at all files of a thread, for one task."""

    files: list[FileLook]
    unseen: int
    """How many further files there are."""
    folder: NotRequired[FolderLook]
    """The view of the folders."""
