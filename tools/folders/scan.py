"""Bring the index of a folder up to date.

A file is read again if its size or time differs, and parsed if its content is new.

The parsers' processes read documents, as many side by side as there are cores; plain text is read here. Every
second the index keeps the finished files, so that an interrupted scan can continue.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from forethought.settings import Settings
from forethought.tools.documents.document import Document, Unreadable
from forethought.tools.documents.formats import kind_of
from forethought.tools.documents.members import LISTED
from forethought.tools.documents.plain import read_text
from forethought.tools.documents.reader import document_apart, members_apart
from forethought.tools.files import MEGABYTE, FilesError
from forethought.tools.folders.index import FolderIndex
from forethought.tools.folders.passages import passages
from forethought.tools.folders.records import Content
from forethought.tools.folders.walk import MOST_BYTES, MOST_FILES, Found, walk
from forethought.tools.members import holders

_KEEP_S = 1.0
Reading = list[tuple[Found, Content | None]]
"""A file and the files in it, each with its content if it has one."""
Progress = Callable[[int, int], None]
"""Gets the number of files that are read, and of all files to read."""
SILENT: Progress = lambda done, total: None  # noqa: E731


@dataclass
class Scan:
    """The findings of a scan."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    """Of the files added or changed: name and reason."""


def scan(
    root: Path,
    index: FolderIndex,
    settings: Settings,
    exclude: Sequence[str],
    progress: Progress,
) -> Scan:
    """Read new and changed files of the folder `root`. Blocking.

    Args:
        root: The folder.
        index: Its index.
        settings: The limits of a reading.
        exclude: Patterns of files to leave out, as in a .gitignore.
        progress: Told about each file.

    Raises:
        FilesError: The folder is too large.
    """
    index.retry(f"{settings.reader_seconds} {settings.reader_memory_mb}")
    known, report = index.manifest(), Scan()
    present, news, size, changed = set[str](), list[Found](), 0, set[str]()
    for found in walk(root, exclude):
        present.add(found.name)
        size += found.size
        if len(present) > MOST_FILES or size > MOST_BYTES:
            raise FilesError(
                f"{root.name}: has more than {MOST_FILES:,} files or 10 GB; name a smaller folder, or leave"
                " files out with --exclude"
            )
        found = _unless_refused(found, settings)
        if known.get(found.name) != found:
            news.append(found)
            changed.add(found.name)
            (report.changed if found.name in known else report.added).append(found.name)
    absent = [name for name in known if name not in present]
    report.removed = [name for name in absent if not holders(name) & known.keys()]
    gone = [name for name in absent if not holders(name) & (present - changed)]
    if news or gone:
        with closing(_readings(root, news, index, settings)) as readings:  # its threads use the index
            _keep(index, readings, report, gone, len(news), progress)
        index.clean_up()
    return report


def _keep(
    index: FolderIndex,
    readings: Iterator[Reading],
    report: Scan,
    gone: Sequence[str],
    total: int,
    progress: Progress,
) -> None:
    waiting: Reading = []
    kept_at, done = time.monotonic(), 0
    try:
        for reading in readings:
            waiting += reading
            done += 1
            progress(done, total)
            reasons = ((found.name, found.reason or (one.reason if one else "")) for found, one in reading)
            report.unreadable += [(name, reason) for name, reason in reasons if reason]
            if time.monotonic() - kept_at > _KEEP_S:
                _write(index, waiting, gone)
                waiting, gone, kept_at = [], [], time.monotonic()
    finally:
        _write(index, waiting, gone)


def _write(index: FolderIndex, waiting: Iterable[tuple[Found, Content | None]], gone: Iterable[str]) -> None:
    with index.writing():
        index.remove(gone)
        for found, content in waiting:
            index.put(found, content)


def _readings(
    root: Path, news: Iterable[Found], index: FolderIndex, settings: Settings
) -> Generator[Reading]:
    """The content of each file and of the files in it, as soon as it is read."""
    most = 2 * (os.cpu_count() or 1)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        running: set[Future[Reading]] = set()
        try:
            for found in news:
                running.add(pool.submit(_reading, root, found, index, settings))
                if len(running) >= most:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (each.result() for each in done)
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (each.result() for each in done)
        finally:
            pool.shutdown(cancel_futures=True)


def _unless_refused(found: Found, settings: Settings) -> Found:
    """The file, with a reason if it is empty or too large."""
    if not found.reason and not found.size:
        return replace(found, reason="is empty (0 bytes)")
    if not found.reason and found.size > settings.max_file_mb * MEGABYTE:
        reason = f"is larger than {settings.max_file_mb:g} MB; FORETHOUGHT_MAX_FILE_MB allows more"
        return replace(found, reason=reason)
    return found


def _reading(root: Path, found: Found, index: FolderIndex, settings: Settings) -> Reading:
    if found.reason:
        return [(found, None)]
    try:
        with (root / found.name).open("rb") as file:
            data = file.read(int(settings.max_file_mb * MEGABYTE) + 1)
    except OSError as error:
        return [(replace(found, reason=f"cannot be read: {error.strerror}"), None)]
    content_hash = hashlib.sha256(data).hexdigest()
    if (known := index.reason_of(content_hash)) is None:
        content = content_of(data, content_hash, found.name, settings)
        text = content.text
    else:
        content, text = Content(content_hash, reason=known), index.text(content_hash)
    return [(found, content), *(_members(data, found, settings) if LISTED in text else [])]


def _members(data: bytes, holder: Found, settings: Settings) -> Reading:
    """The files in a file, such as attachments, named as `mail.eml/q3.xlsx`."""
    try:
        members = members_apart(data, holder.name, settings)
    except Unreadable:
        return []
    return [
        (
            Found(one.name, len(one.data), holder.modified, one.reason),
            None
            if one.reason
            else content_of(one.data, hashlib.sha256(one.data).hexdigest(), one.name, settings),
        )
        for one in members
    ]


def content_of(data: bytes, content_hash: str, name: str, settings: Settings) -> Content:
    """The text and passages of a file, or why it has none. Blocking."""
    try:
        text, cuts = passages(_document(data, name, settings))
    except Unreadable as error:
        return Content(content_hash, reason=error.what)
    return Content(content_hash, text, cuts)


def _document(data: bytes, name: str, settings: Settings) -> Document:
    if data and kind_of(data, name) == "text":
        return read_text(data)
    return document_apart(data, name, settings)
