"""Which files of a folder are read. Ignored and special ones are not; no file ends the walk."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

MOST_FILES = 100_000
MOST_BYTES = 10_000_000_000
USUAL = (
    ".*", "node_modules/", "bower_components/", "__pycache__/", "site-packages/", "__MACOSX/",
    "~$*", "Thumbs.db", "desktop.ini", "*.pyc",
)  # fmt: skip
"""Ignored everywhere: hidden files, installed packages, and what office programs and systems leave behind."""
_LONGEST = 1000
"""Characters of a name."""
_Rules = tuple[tuple[str, GitIgnoreSpec], ...]


@dataclass(frozen=True)
class Found:
    """A file of a folder."""

    name: str
    """Relative to the folder, with `/`."""
    size: int
    modified: int
    """Nanoseconds."""
    reason: str = ""
    """Why it is not read ('': it is)."""


def walk(root: Path, exclude: Sequence[str] = ()) -> Iterator[Found]:
    """The files below `root` by name. Links to folders are not followed."""
    own = (("", GitIgnoreSpec.from_lines([*USUAL, *exclude])),)
    yield from _walk(root, root.resolve(), "", own)


def _walk(root: Path, real: Path, below: str, rules: _Rules) -> Iterator[Found]:
    folders: list[tuple[str, _Rules]] = [(below, rules)]
    while folders:
        below, rules = folders.pop()
        try:
            with os.scandir(root / below) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Found(below or ".", 0, 0, f"the folder cannot be opened: {error.strerror}")
            continue
        if any(entry.name == ".gitignore" for entry in inside):
            rules = (*rules, *_gitignore(root / below / ".gitignore", below))
        deeper: list[tuple[str, _Rules]] = []
        for entry in inside:
            name = below + entry.name
            is_folder = _is_folder(entry)
            if _ignored(name + "/" * is_folder, rules):
                continue
            if is_folder:
                deeper.append((name + "/", rules))
            else:
                yield _found(entry, name, real)
        folders += reversed(deeper)


def _gitignore(path: Path, below: str) -> Iterator[tuple[str, GitIgnoreSpec]]:
    with suppress(OSError, ValueError):
        yield below, GitIgnoreSpec.from_lines(path.read_text("utf-8", "replace").splitlines())


def _ignored(name: str, rules: _Rules) -> bool:
    """Whether the rules of a folder above leave it out; the deepest one that says anything decides."""
    for below, spec in reversed(rules):
        said = spec.check_file(name[len(below) :]).include
        if said is not None:
            return said
    return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        return entry.is_dir(follow_symlinks=False)
    return False


def _found(entry: os.DirEntry[str], name: str, real: Path) -> Found:
    shown = name.encode("utf-8", "replace").decode()
    try:
        if entry.is_symlink():
            target = Path(entry.path).resolve(strict=True)
            if not target.is_relative_to(real):
                return Found(shown, 0, 0, "is a link that leads out of the folder")
            if target.is_dir():
                return Found(shown, 0, 0, "is a link to a folder, which is not followed")
        status = entry.stat()
    except (OSError, RuntimeError) as error:  # a loop of links is a RuntimeError before Python 3.13
        return Found(shown, 0, 0, f"cannot be read: {getattr(error, 'strerror', '') or error}")
    if not stat.S_ISREG(status.st_mode):
        return Found(shown, 0, 0, "is a device, a pipe or a socket")
    if not os.access(entry.path, os.R_OK):
        return Found(shown, status.st_size, 0, "cannot be read: you lack the permission")
    if len(name) > _LONGEST or shown != name or not name.isprintable():
        return Found(shown[:_LONGEST], status.st_size, 0, "has a name that cannot be shown; rename it")
    return Found(name, status.st_size, status.st_mtime_ns)
