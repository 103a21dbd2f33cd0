"""Files in files: attachments of messages, files in archives, files embedded in documents.

Each becomes a file named after the one that holds it, such as `mail.eml/q3.xlsx`, also in several levels.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from forethought.tools.documents.archive import (
    MOST_UNPACKED,
    PACKED,
    Entry,
    is_tar,
    open_archive,
    packed_entries,
    tar_entries,
    zip_entries,
)
from forethought.tools.documents.document import Member, Unreadable
from forethought.tools.documents.messages import BETWEEN, eml_entries, mbox_entries, msg_entries

MOST = 1000
"""Files that are taken out of a file, those in its archives included."""
LEVELS = 3
LISTED = "Files in it:"
"""The line before the names of these files, in the text of the file that holds them."""
LONGEST = 150
"""Characters of a part of a name."""
DEEPEST = 12
"""Parts of a name."""
_STARTS = {b"PK\x03\x04": "zip", b"PK\x05\x06": "zip", b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\0": "xz",
           b"%PDF-": "pdf"}  # fmt: skip
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_EMBEDDED = re.compile(r"(word|xl|ppt)/embeddings/[^/]+\.\w+x$")
"""Not objects of old programs (.bin)."""


@dataclass
class _Room:
    """How many files and bytes may still be taken out."""

    files: int = field(default_factory=lambda: MOST)
    size: int = field(default_factory=lambda: MOST_UNPACKED)
    names: set[str] = field(default_factory=set)


def holder_kind(data: bytes, name: str) -> str:
    """The kind of a file that may hold other files: eml, msg, mbox, zip, tar, gz, bz2, xz, pdf, or ''."""
    suffix = PurePosixPath(name).suffix.lower()
    kind = next((kind for start, kind in _STARTS.items() if data.startswith(start)), "")
    if kind in PACKED or not kind:
        kind = "tar" if is_tar(data, kind) else kind
    if suffix == ".msg" and data.startswith(_OLE):
        return "msg"
    if suffix in (".mbox", ".mbx", "") and BETWEEN.match(data):
        return "mbox"
    return kind or "eml" * (suffix == ".eml")


def read_members(data: bytes, name: str) -> list[Member]:
    """The files in a file, and the files in those; [] if it holds none.

    Args:
        data: The file that may hold others.
        name: Its name. The names of its members begin with it.

    Raises:
        Unreadable: It is damaged, or unpacks to far too much.
    """
    return list(_members(data, name, _Room(), LEVELS))


def listing(members: list[Member]) -> str:
    """The members' names, sizes and reasons, a line each; '' if there are none."""
    lines = []
    for member in members:
        size = "" if member.size is None else f"{member.size:,} bytes"
        reason = f"cannot be read: {member.reason}" if member.reason else ""
        lines.append(f"- {member.name} ({', '.join(filter(None, (size, member.about, reason)))})")
    return "\n".join([LISTED, *lines]) if lines else ""


def _members(data: bytes, name: str, room: _Room, levels: int) -> Iterator[Member]:
    kind, left_out = holder_kind(data, name) if levels else "", 0
    for entry in _entries(kind, data, name):
        if not room.files:
            left_out += 1
            continue
        room.files -= 1
        member = _taken(entry, _free_name(name, entry.name, room.names), room)
        yield member
        with suppress(Exception):  # its own text says that it is damaged
            yield from _members(member.data, member.name, room, levels - 1)
    if left_out:
        yield Member(f"{name}/...", b"", f"{left_out:,} more files, over the limit of {MOST:,}")


def _taken(entry: Entry, name: str, room: _Room) -> Member:
    try:
        data, reason = entry.read(), ""
    except Exception as error:  # of other people's parsers
        data, reason = b"", str(error) if isinstance(error, Unreadable) else f"damaged ({error})"
    size = entry.size if reason else len(data)
    if len(data) > room.size:
        data, reason = b"", f"the files in it are over {MOST_UNPACKED // 1_000_000} MB together"
    room.size -= len(data)
    return Member(name, data, reason, size, entry.about)


def _entries(kind: str, data: bytes, name: str) -> Iterator[Entry]:
    if not kind:
        return iter(())
    readers = {"tar": tar_entries, "eml": eml_entries, "msg": msg_entries, "mbox": mbox_entries,
               "pdf": _attached_to_pdf, "zip": _zip_entries}  # fmt: skip
    return readers[kind](data) if kind in readers else packed_entries(data, kind, name)


def _zip_entries(data: bytes) -> Iterator[Entry]:
    """The files of an archive; of an Office document those embedded, but for the tables of its charts."""
    archive = open_archive(data)
    names = archive.namelist()
    if "[Content_Types].xml" not in names:
        is_document = "mimetype" in names and {"content.xml", "META-INF/container.xml"} & {*names}
        yield from () if is_document else zip_entries(data)
        return
    relations = b"".join(archive.read(name) for name in names if "/charts/_rels/" in name)
    for name in filter(_EMBEDDED.match, names):
        if name.rpartition("/")[2].encode() not in relations:
            yield Entry(name.rpartition("/")[2], partial(archive.read, name), archive.getinfo(name).file_size)


def _attached_to_pdf(data: bytes) -> Iterator[Entry]:
    import pypdfium2

    document: Any = pypdfium2.PdfDocument(data)
    for number in range(document.count_attachments()):
        attachment = document.get_attachment(number)
        yield Entry(attachment.get_name(), partial(bytes, attachment.get_data()))


def _free_name(holder: str, name: str, used: set[str]) -> str:
    """A name after the holder's: no way out of a folder, no control characters, and not used yet."""
    plain = "".join(c for c in name if c.isspace() or unicodedata.category(c)[0] != "C")
    parts = [" ".join(part.split())[-LONGEST:] for part in re.split(r"[/\\]+", plain) if part.strip("._ ")]
    path = PurePosixPath(holder, *parts[-max(DEEPEST - holder.count("/") - 1, 1) :] or ["file"])
    free, number = str(path), 1
    while free.casefold() in used:
        number += 1
        free = str(path.with_name(f"{path.stem} ({number}){path.suffix}"))
    used.add(free.casefold())
    return free
