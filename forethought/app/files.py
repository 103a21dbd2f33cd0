"""What a person names with --file: files, folders, patterns such as *.csv, and addresses."""

from __future__ import annotations

import asyncio
import glob
import mimetypes
import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from forethought.app.errors import CliError
from forethought.app.text import one_line

if TYPE_CHECKING:
    from forethought.settings import Settings
    from forethought.state.agent import FileRef

_FLAGS = ("--file", "-f")
_MOST = 200
"""Most files that are taken from a folder."""


def input_files(names: Sequence[str], settings: Settings) -> list[FileRef]:
    """The files, stored, as the graph's input names them. Reads the disk and the network.

    Raises CliError for a name that leads to nothing, FilesError for a file that cannot be taken.
    """
    from forethought.tools.files import from_contents

    return from_contents(_contents(names, settings), settings)


def _contents(names: Sequence[str], settings: Settings) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file, each path once."""
    from forethought.tools.files import read

    seen: set[Path] = set()
    for name in names:
        if _is_address(name):
            yield asyncio.run(_fetched(name, settings))
            continue
        for path in _paths(os.path.expanduser(name)):
            if path not in seen:
                seen.add(path)
                yield path.name, read(path, settings)


def _paths(name: str) -> list[Path]:
    """The files of a folder and of those in it, but for hidden ones; those of a pattern; or the one file."""
    path = Path(name)
    if path.is_dir():
        inside = (each.relative_to(path) for each in path.rglob("*") if each.is_file())
        found = sorted(path / each for each in inside if not any(part[0] == "." for part in each.parts))
        if not 0 < len(found) <= _MOST:
            count = f"{len(found):,} files, more than {_MOST}: name fewer" if found else "no files"
            raise CliError(f"--file {one_line(name)}: the folder has {count}")
        return found
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
