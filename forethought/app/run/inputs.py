"""What a task comes with: its text, and its files, taken into the storage first."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.app.errors import CliError
from forethought.text import sanitize_text

if TYPE_CHECKING:
    from forethought.settings import Settings


def read_task(task: str | None) -> str:
    """The task's text; `-` reads it from stdin. Raises CliError when nothing is asked."""
    if task == "-":
        try:
            task = sys.stdin.read()
        except UnicodeDecodeError as error:
            raise CliError("the task on stdin is not UTF-8 text") from error
    if task is None:
        raise CliError(
            "name a TASK, as in: forethought run 'How many rooms does the hotel have?' --file hotel.pdf"
        )
    if not task.strip():
        raise CliError("the task is empty: say what is asked")
    return sanitize_text(task).strip()


def take_files(paths: Sequence[Path], settings: Settings) -> list[dict[str, Any]]:
    """The files as the graph's input names them, their content kept by hash.

    Raises FilesError: a file is missing, unreadable or too large, or the storage cannot be written.
    """
    if not paths:
        return []
    from forethought.tools.files import FileStore, from_path

    store = FileStore.of(settings)
    taken: dict[str, dict[str, Any]] = {}
    for path in dict.fromkeys(paths):
        reference = from_path(path, store=store, settings=settings, taken_names=taken)
        taken[reference["name"]] = dict(reference)
    return list(taken.values())
