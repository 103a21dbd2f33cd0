"""Zip archives and what is kept in them, within limits: nothing is written to disk, no name is followed.

Office files and e-books are zip archives of XML. Those that unpack to too much or declare entities (billion
laughs, external ones), which no real document does, are refused before any reader sees them; whatever else
fills the memory or takes for ever meets the limits of the reader's process.
"""

from __future__ import annotations

import io
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any
from xml.parsers import expat

from forethought.text import one_line
from forethought.tools.documents.document import Document, Section, Unreadable
from forethought.tools.documents.tables import markdown_table

LARGEST_UNPACKED = 400_000_000
"""Bytes of a document's members together; an archive that is only listed may unpack to more."""
_CHUNK = 65_536
_BEFORE_XML = b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"
"""What may stand before the first '<': byte order marks, the zeros of UTF-16, white space."""
_UNKNOWN_ENCODING = 18


def read_zip(data: bytes) -> Document:
    """A listing of the archive: names, sizes packed and unpacked, dates. Nothing is unpacked."""
    with open_archive(data) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
    total = sum(member.file_size for member in members)
    rows = [["Name", "Bytes", "Bytes packed", "Changed", "Remark"], *map(_row, members)]
    lead = f"An archive of {len(members)} files, {total} bytes when unpacked. Only the listing can be read."
    return Document((Section(f"{lead}\n\n{markdown_table(rows)}" if members else lead),))


def open_archive(data: bytes) -> zipfile.ZipFile:
    """The archive. Raises Unreadable where it is damaged."""
    with _undamaged():
        return zipfile.ZipFile(io.BytesIO(data))


def parse_xml(data: bytes) -> Any:
    """The root element. No entity is expanded, no address or file is opened, depth and text are limited."""
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    return etree.fromstring(data, parser)


@contextmanager
def _undamaged() -> Iterator[None]:
    """Whatever `zipfile` says of a damaged or protected archive, as Unreadable."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise Unreadable(
            f"is damaged: its archive cannot be opened ({error})", hint="Ask the user for the file again."
        ) from error


def check_document(archive: zipfile.ZipFile) -> None:
    """Refuse a document that unpacks to too much or declares XML entities. Raises Unreadable.

    A member cannot give more than the size it declares: `zipfile` stops there.
    """
    members = archive.infolist()
    if sum(member.file_size for member in members) > LARGEST_UNPACKED:
        raise Unreadable(
            f"unpacks to more than {LARGEST_UNPACKED // 1_000_000} MB, which is too large",
            cause="limit",
            hint="Ask the user for the part that matters, as a file of its own.",
        )
    with _undamaged():
        for member in members:
            with archive.open(member) as file:
                _check_entities(file)


def _check_entities(file: IO[bytes]) -> None:
    """Raises Unreadable where a member that is XML, whatever its name, declares a document type."""
    chunk = file.read(_CHUNK)
    if not chunk.lstrip(_BEFORE_XML).startswith(b"<"):
        return
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        while chunk:
            parser.Parse(chunk, False)
            chunk = file.read(_CHUNK)
    # Python's own codecs are asked for what expat does not know, and say so in their own way.
    except (expat.ExpatError, LookupError, ValueError) as error:
        if getattr(error, "code", _UNKNOWN_ENCODING) == _UNKNOWN_ENCODING:
            raise Unreadable(
                "has XML in an encoding that cannot be checked", hint="Ask the user to save it anew."
            ) from error
        # Otherwise it is not well-formed: for the reader to say, or not to mind.


def _refuse_doctype(name: str, system: str | None, public: str | None, internal: int) -> None:
    # A reference to a document type alone is harmless (e-books have it): no parser here fetches it.
    if internal:
        raise Unreadable(
            "declares a document type of its own in its XML, as no real document does; it was not read",
            cause="limit",
            hint="Use another source; this file may be meant to do harm.",
        )


def _row(member: zipfile.ZipInfo) -> list[str]:
    remark = "protected with a password" if member.flag_bits & 1 else ""
    year, month, day = member.date_time[:3]
    changed = f"{year}-{month:02}-{day:02}"
    return [shown_name(member.filename), str(member.file_size), str(member.compress_size), changed, remark]


def shown_name(name: str) -> str:
    """An entry's name for reading only: no control or direction characters, no longer than 200 characters."""
    kept = "".join(c if unicodedata.category(c)[0] not in "CZ" else " " for c in name)
    return one_line(kept, 200) or "(no name)"
