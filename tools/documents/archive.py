"""Zip archives and what is kept in them, within limits: nothing is written to disk, no name is followed.

Office files and e-books are zip archives of XML. What makes a small one fill the memory is refused before
any reader sees it: too many entries, too large when unpacked, too many or too deeply nested elements, and
entities (billion laughs, external ones), which no real document declares.
"""

from __future__ import annotations

import io
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from xml.parsers import expat

from forethought.text import one_line
from forethought.tools.documents.document import Document, Section, Unreadable
from forethought.tools.documents.tables import markdown_table

MOST_ENTRIES = 20_000
LARGEST_UNPACKED = 400_000_000
"""Bytes of a document's members together; an archive that is only listed may unpack to more."""
LARGEST_XML = 100_000_000
"""Bytes of the members that are XML, which take many times their size when parsed."""
MOST_ELEMENTS = 2_000_000
"""In all XML members together."""
MOST_REFERRED = 1_000_000
"""Cells of a workbook that merges, links and comments may cover: openpyxl makes an object of each."""
DEEPEST_XML = 200
_CHUNK = 65_536
_ENTRY = b"PK\x01\x02"
_BEFORE_XML = b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"
"""What may stand before the first '<': byte order marks, the zeros of UTF-16, white space."""
_UNKNOWN_ENCODING = 18
_COVERING = ("mergeCell", "hyperlink", "comment")
_REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d{1,7})(?::\$?([A-Za-z]{1,3})\$?(\d{1,7}))?")
_HINT = "Ask the user for the part that matters, as a file of its own."


def read_zip(data: bytes) -> Document:
    """A listing of the archive: names, sizes packed and unpacked, dates. Nothing is unpacked."""
    with open_archive(data) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
    total = sum(member.file_size for member in members)
    rows = [["Name", "Bytes", "Bytes packed", "Changed", "Remark"], *map(_row, members)]
    lead = f"An archive of {len(members)} files, {total} bytes when unpacked. Only the listing can be read."
    return Document((Section(f"{lead}\n\n{markdown_table(rows)}" if members else lead),))


def open_archive(data: bytes) -> zipfile.ZipFile:
    """The archive. Raises Unreadable where it is damaged or has too many entries."""
    # Counted in the bytes: the list of entries is built in memory as soon as the archive is opened.
    if data.count(_ENTRY) > MOST_ENTRIES:
        raise _too_large(f"is an archive of more than {MOST_ENTRIES} entries")
    with _undamaged():
        return zipfile.ZipFile(io.BytesIO(data))


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
    """Refuse an archive that would not stay within the limits once it is read. Raises Unreadable.

    A member cannot give more than the size it declares: `zipfile` stops there.
    """
    members = archive.infolist()
    _within(LARGEST_UNPACKED, members)
    with _undamaged():
        # By content: a relation may name any member as XML, whatever its own name says.
        xml = [member for member in members if _is_xml(archive, member)]
        _within(LARGEST_XML, xml)
        scan = _Scan()
        for member in xml:
            with archive.open(member) as file:
                scan.read(file)


def _within(limit: int, members: Sequence[zipfile.ZipInfo]) -> None:
    if sum(member.file_size for member in members) > limit:
        raise _too_large(f"unpacks to more than {limit // 1_000_000} MB, which is too large")


def _is_xml(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bool:
    with archive.open(member) as file:
        return file.read(_CHUNK).lstrip(_BEFORE_XML).startswith(b"<")


class _Scan:
    """Counts elements over all members, and the depth in each, without building anything."""

    def __init__(self) -> None:
        self._elements = self._depth = self._referred = 0

    def read(self, file: Any) -> None:
        self._depth = 0
        parser = expat.ParserCreate()
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        try:
            while chunk := file.read(_CHUNK):
                parser.Parse(chunk, False)
        # Python's own codecs are asked for what expat does not know, and say so in their own way.
        except (expat.ExpatError, LookupError, ValueError) as error:
            if getattr(error, "code", _UNKNOWN_ENCODING) == _UNKNOWN_ENCODING:
                raise Unreadable(
                    "has XML in an encoding that cannot be checked", hint="Ask the user to save it anew."
                ) from error
            # Otherwise it is not well-formed: for the reader to say, or not to mind.

    def _doctype(self, name: str, system: str | None, public: str | None, internal: int) -> None:
        # A reference to a document type alone is harmless (e-books have it): no parser here fetches it.
        if internal:
            raise Unreadable(
                "declares a document type of its own in its XML, as no real document does; it was not read",
                cause="limit",
                hint="Use another source; this file may be meant to do harm.",
            )

    def _begin(self, name: str, attributes: Mapping[str, str]) -> None:
        self._elements += 1
        self._depth += 1
        if self._elements > MOST_ELEMENTS:
            raise _too_large(f"has more than {MOST_ELEMENTS} elements, which is too many")
        if self._depth > DEEPEST_XML:
            raise _too_large(f"is nested more than {DEEPEST_XML} levels deep")
        if name.rpartition(":")[2] in _COVERING:
            self._referred += _cells(attributes.get("ref", ""))
            if self._referred > MOST_REFERRED:
                raise _too_large(f"merges or marks more than {MOST_REFERRED} cells, which is too many")

    def _end(self, name: str) -> None:
        self._depth -= 1


def _cells(reference: str) -> int:
    """How many cells 'A1' or 'A1:C3' covers; too many for what is neither."""
    found = _REFERENCE.fullmatch(reference)
    if found is None or found[3] is None:
        return 1 if ":" not in reference else MOST_REFERRED + 1
    left, right = _column(found[1]), _column(found[3])
    return (abs(right - left) + 1) * (abs(int(found[4]) - int(found[2])) + 1)


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def _too_large(what: str) -> Unreadable:
    return Unreadable(what, cause="limit", hint=_HINT)


def _row(member: zipfile.ZipInfo) -> list[str]:
    remark = "protected with a password" if member.flag_bits & 1 else ""
    year, month, day = member.date_time[:3]
    changed = f"{year}-{month:02}-{day:02}"
    return [shown_name(member.filename), str(member.file_size), str(member.compress_size), changed, remark]


def shown_name(name: str) -> str:
    """An entry's name for reading only: no control or direction characters, no longer than 200 characters."""
    kept = "".join(c if unicodedata.category(c)[0] not in "CZ" else " " for c in name)
    return one_line(kept, 200) or "(no name)"
