"""What a person names with --file: files, folders, patterns such as *.csv, and addresses."""

from __future__ import annotations

import asyncio
import glob
import mimetypes
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from forethought.app.errors import CliError
from forethought.app.text import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from forethought.settings import Settings
    from forethought.tools.folders.intake import Given

_FLAGS = ("--file", "-f")


def input_files(
    names: Sequence[str], settings: Settings, exclude: Sequence[str] = (), console: Console | None = None
) -> Given:
    """The files and folders as the graph's input names them. Reads the disk and the network.

    Args:
        names: Paths, folders, patterns and addresses.
        settings: Where contents and indexes are kept.
        exclude: Patterns of a folder's files to leave out.
        console: Shows the progress of reading a folder, and what it holds.

    Raises:
        CliError: A name leads to nothing.
        FilesError: A file cannot be taken.
    """
    from forethought.tools.folders.intake import take_paths

    fetched = [asyncio.run(_fetched(name, settings)) for name in names if _is_address(name)]
    paths = [path for name in names if not _is_address(name) for path in _paths(os.path.expanduser(name))]
    try:
        with _progress(console) as progress:
            given = take_paths(paths, settings, exclude, progress, fetched)
    except KeyboardInterrupt:
        if console is not None and any(path.is_dir() for path in paths):
            console.print(
                "Stopped. The index keeps the finished files: the same command goes on.", style="dim"
            )
        raise
    if console is not None:
        for note in given.notes:
            console.print(one_line(note, 1_000), style="dim", markup=False, highlight=False)
    return given


@contextmanager
def _progress(console: Console | None) -> Iterator[Callable[[int, int], None]]:
    """A bar with the rate and the time left, on a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    if console is None or not console.is_terminal:
        yield lambda done, total: None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    with Progress("reading the folder", *columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, rate="")

        def show(done: int, total: int) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, completed=done, total=total, rate=f"{speed:.0f} files/s" if speed else "")

        yield show


def _paths(name: str) -> list[Path]:
    """A folder, the files of a pattern, or the one file."""
    path = Path(name)
    if path.is_dir():
        return [path]
    matches = [] if os.path.lexists(name) else sorted(glob.glob(name, recursive=True))
    if not matches and glob.has_magic(name) and not os.path.lexists(name):
        raise CliError(f"--file {one_line(name)}: no file matches the pattern")
    return [Path(match) for match in matches if not Path(match).is_dir()] or [path]


def _is_address(name: str) -> bool:
    return name.lower().startswith(("http://", "https://"))


async def _fetched(address: str, settings: Settings) -> tuple[str, bytes]:
    """A name for what is at the address, and its content; no private host is asked. Raises CliError."""
    from forethought.tools.base import ToolError
    from forethought.tools.web.fetch import fetch

    try:
        page = await fetch(address, settings.allowed_hosts)
    except ToolError as error:
        raise CliError(f"--file {one_line(address)}: {one_line(error)}") from error
    if page.status >= 400:
        raise CliError(f"--file {one_line(address)}: the server answered {page.status} {page.reason}")
    name = unquote(PurePosixPath(urlsplit(page.url).path).name) or page.host
    known = mimetypes.guess_type(name)[0] is not None
    return name if known else name + (mimetypes.guess_extension(page.media_type) or ""), page.body


def with_all_files(arguments: Sequence[str]) -> list[str]:
    """The command line with --file before each of several values, of which the parser takes one: what follows
    a file is one too if it is there, a pattern of what is there, or an address."""
    line: list[str] = []
    taking = False
    for text in arguments:
        is_value = bool(line) and line[-1] in _FLAGS
        if taking and not is_value and _is_there(text):
            line += [_FLAGS[0], text]
            continue
        taking = text in _FLAGS or (taking and is_value)
        line.append(text)
    return line if line[:1] in (["run"], ["chat"]) else list(arguments)


def _is_there(text: str) -> bool:
    path = os.path.expanduser(text)
    return not text.startswith("-") and (_is_address(text) or os.path.exists(path) or bool(glob.glob(path)))
