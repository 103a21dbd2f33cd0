"""The forms that each server refuses, as runs and `doctor` found out: a JSON file in the data folder.

A note is kept for a week, because a server may be updated.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from forethought.json_files import FileError, read_object, write_json
from forethought.models.forms import Part

_KEPT_S = 7 * 24 * 3600.0
_SLOW = 30.0
"""Tokens a second below which a server's replies are streamed: then it is known whether more is coming."""


@dataclass(frozen=True)
class Note:
    """A note on one model of one server."""

    refused: tuple[str, ...] = ()
    """Methods, by `forms.kind`."""
    without: tuple[Part, ...] = ()
    streams: bool = True
    slow: bool = False
    seen: float = 0.0


class Servers:
    """The notes, read once and written when one changes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._notes: dict[str, Note] | None = None

    def note(self, server: str, model: str) -> Note:
        """The note on `model` of `server`."""
        return self._read().get(f"{server} {model}", Note())

    def change(self, server: str, model: str, **changes: Any) -> None:
        """Keep `changes` to a note. A file that cannot be written is no reason to stop."""
        before = self.note(server, model)
        if (after := replace(before, **changes)) == before:
            return
        self._notes = {**self._read(), f"{server} {model}": replace(after, seen=time.time())}
        with suppress(OSError):
            write_json(self._path, {key: asdict(note) for key, note in self._notes.items()})

    def _read(self) -> dict[str, Note]:
        if self._notes is None:
            self._notes = {}
            with suppress(FileError, TypeError, KeyError):
                oldest = time.time() - _KEPT_S
                for key, value in read_object(self._path).items() if self._path.exists() else ():
                    fields: Any = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
                    note = Note(**fields)
                    if note.seen > oldest:
                        self._notes[key] = note
        return self._notes


def server_of(provider: str, address: str | None) -> str:
    """The server's name: its address without a password, or the provider."""
    if not address:
        return provider
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def is_slow(tokens: int, seconds: float) -> bool:
    """Whether a reply of so many tokens came slowly."""
    return seconds > 10 and tokens / seconds < _SLOW
