"""Files in files: what is attached to a message, packed in an archive or embedded in a document.

Each becomes a file named after the one that holds it, such as `mail.eml/q3.xlsx`, also in several levels.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath

from forethought.tools.documents.archive import (
    MOST_UNPACKED,
    Entry,
    is_tar,
    open_archive,
    packed_entries,
    tar_entries,
    zip_entries,
)
from forethought.tools.documents.document import Member, Unreadable
from forethought.tools.documents.messages import (
    BETWEEN,
    eml_entries,
    mbox_entries,
    msg_entries,
    tnef_entries,
)

MOST = 1000
"""Files that are taken out of a file, those in its archives included."""
LEVELS = 3
LONGEST_NAME = 200
"""Characters, with the names of what holds the file."""
DEEPEST = 12
"""Parts of a name."""
LEAD = "Files in it:"
_STARTS = {b"PK\x03\x04": "zip", b"PK\x05\x06": "zip", b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\0": "xz",
           b"%PDF-": "pdf", b"\x78\x9f\x3e\x22": "tnef"}  # fmt: skip
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HOLDS = r"\.(eml|msg|mbox|zip|tar|tgz|gz|bz2|tbz2?|xz|txz|dat|docx|xlsx|pptx|pdf)$"
_OPEN_DOCUMENT = {"content.xml", "META-INF/container.xml"}
_EMBEDDED = re.compile(r"(word|xl|ppt)/embeddings/[^/]+$")


@dataclass
class _Room:
    """What may still be taken out."""

    files: int = field(default_factory=lambda: MOST)
    size: int = field(default_factory=lambda: MOST_UNPACKED)
    names: set[str] = field(default_factory=set)


def holder_kind(data: bytes, name: str) -> str:
    """What a file may hold other files as: eml, msg, mbox, zip, tar, gz, bz2, xz, pdf, tnef, or ''."""
    suffix = PurePosixPath(name).suffix.lower()
    kind = next((kind for start, kind in _STARTS.items() if data.startswith(start)), "")
    if kind in ("gz", "bz2", "xz") and is_tar(data, kind):
        return "tar"
    if kind:
        return kind
    if data.startswith(_OLE):
        return "msg" if suffix == ".msg" else ""
    if is_tar(data):
        return "tar"
    if suffix in (".mbox", ".mbx", "") and BETWEEN.match(data):
        return "mbox"
    return "eml" if suffix == ".eml" else ""


def read_members(data: bytes, name: str) -> list[Member]:
    """The files in a file, and the files in those; [] if it holds none.

    Args:
        data: The file that may hold others.
        name: Its name, with which the names of its members begin.

    Raises:
        Unreadable: It is damaged, or unpacks to far too much.
    """
    return list(_members(data, name, _Room()))


def listing(members: list[Member]) -> str:
    """The members' names, sizes and reasons, a line each; '' if there are none."""
    lines = []
    for member in members:
        size = None if member.size is None else f"{member.size:,} bytes"
        reason = f"cannot be read: {member.reason}" if member.reason else ""
        lines.append(f"- {member.name} ({', '.join(filter(None, (size, member.about, reason)))})")
    return "\n".join([LEAD, *lines]) if lines else ""


def _members(data: bytes, name: str, room: _Room) -> Iterator[Member]:
    kind = holder_kind(data, name)
    if not kind or _depth(name) >= LEVELS:
        return
    left_out = 0
    for entry in _entries(kind, data, name):
        if not room.files:
            left_out += 1
            continue
        room.files -= 1
        member = _taken(entry, _free_name(name, entry.name, room.names), room)
        yield member
        with suppress(Exception):  # its own text says that it is damaged
            yield from _members(member.data, member.name, room)
    if left_out:
        yield Member(f"{name}/...", b"", f"{left_out:,} more files, over the limit of {MOST:,}")


def _taken(entry: Entry, name: str, room: _Room) -> Member:
    try:
        data = entry.read()
    except Unreadable as error:
        return Member(name, b"", error.what, entry.size, entry.about)
    except Exception as error:  # of other people's parsers
        return Member(name, b"", f"damaged ({type(error).__name__})", entry.size, entry.about)
    if len(data) > room.size:
        reason = f"the files in it are over {MOST_UNPACKED // 1_000_000} MB together"
        return Member(name, b"", reason, len(data), entry.about)
    room.size -= len(data)
    return Member(name, data, "", len(data), entry.about)


def _entries(kind: str, data: bytes, name: str) -> Iterator[Entry]:
    if kind == "zip":
        names = open_archive(data).namelist()
        if "[Content_Types].xml" in names:
            return _embedded(data)
        return iter(()) if "mimetype" in names and _OPEN_DOCUMENT & set(names) else zip_entries(data)
    readers = {
        "tar": tar_entries, "eml": eml_entries, "msg": msg_entries, "mbox": mbox_entries,
        "tnef": tnef_entries, "pdf": _attached_to_pdf,
    }  # fmt: skip
    return readers[kind](data) if kind in readers else packed_entries(data, kind, name)


def _depth(name: str) -> int:
    """How many files hold the one of this name."""
    return sum(re.search(_HOLDS, part, re.IGNORECASE) is not None for part in name.split("/")[:-1])


def _free_name(holder: str, name: str, used: set[str]) -> str:
    """A name after the holder's: no way out of a folder, no control characters, short, and not used yet."""
    plain = "".join(" " if c.isspace() else c for c in unicodedata.normalize("NFC", name))
    plain = "".join(c for c in plain if unicodedata.category(c)[0] != "C")
    parts = [part.strip() for part in re.split(r"[/\\]+", plain)]
    parts = [part for part in parts if part.strip("._ ")][-max(DEEPEST - holder.count("/") - 1, 1) :]
    inner = "/".join(parts) or "file"
    path, number = PurePosixPath(inner), 1
    free = _short(holder, str(path.with_suffix("")), path.suffix)
    while free.casefold() in used:
        number += 1
        free = _short(holder, str(path.with_suffix("")), f" ({number}){path.suffix}")
    used.add(free.casefold())
    return free


def _short(holder: str, stem: str, ending: str) -> str:
    ending = ending[-30:]
    return f"{holder}/{stem[: max(LONGEST_NAME - len(holder) - len(ending) - 1, 8)].rstrip()}{ending}"


def _embedded(data: bytes) -> Iterator[Entry]:
    """The files in an Office document, but for the tables that its charts are drawn from."""
    archive = open_archive(data)
    of_charts = "".join(
        archive.read(name).decode("utf-8", "replace")
        for name in archive.namelist()
        if "/charts/_rels/" in name
    )
    for name in filter(_EMBEDDED.match, archive.namelist()):
        inner = PurePosixPath(name).name
        if f"embeddings/{inner}" not in of_charts:
            yield _unwrapped(inner, archive.read(name))


def _unwrapped(name: str, data: bytes) -> Entry:
    """An embedded file without the wrapping of OLE."""
    import olefile  # type: ignore[import-untyped]

    if data.startswith(_OLE):
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            for stream, kind in (("Package", ""), ("Workbook", ".xls"), ("WordDocument", ".doc")):
                if ole.exists(stream):
                    whole = data if kind else ole.openstream(stream).read()
                    name = str(PurePosixPath(name).with_suffix(kind or _office_suffix(whole)))
                    return Entry(name, partial(bytes, whole), len(whole))
            if ole.exists("\x01Ole10Native"):
                return _native(ole.openstream("\x01Ole10Native").read())
    return Entry(name, partial(bytes, data), len(data))


def _native(stream: bytes) -> Entry:
    """A file as Windows packs it: its label, its path, its size and its content."""
    label, _, rest = stream[6:].partition(b"\0")
    _, _, rest = rest.partition(b"\0")
    length = int.from_bytes(rest[4:8], "little")
    rest = rest[8 + length :]
    data = rest[4 : 4 + int.from_bytes(rest[:4], "little")]
    return Entry(label.decode("cp1252", "replace"), partial(bytes, data), len(data))


def _office_suffix(data: bytes) -> str:
    names = open_archive(data).namelist() if data.startswith(b"PK") else []
    return next((end for part, end in (("xl/", ".xlsx"), ("word/", ".docx"), ("ppt/", ".pptx"))
                 if any(name.startswith(part) for name in names)), ".bin")  # fmt: skip


def _attached_to_pdf(data: bytes) -> Iterator[Entry]:
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    for number in range(document.count_attachments()):
        attachment = document.get_attachment(number)
        yield Entry(attachment.get_name(), partial(lambda each: bytes(each.get_data()), attachment))
