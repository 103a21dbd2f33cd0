"""Zip archives and the XML in them: nothing is written to disk, no name is followed, no entity expanded.

Of an archive that is no document there is only a listing. What unpacks to too much meets the limits of the
reader's process (`tools.documents.reader`).
"""

from __future__ import annotations

import io
import re
import unicodedata
import zipfile
import zlib
from typing import Any

from forethought.text import one_line
from forethought.tools.documents.document import Document, Section, Unreadable
from forethought.tools.documents.tables import markdown_table

_OF_A_PROGRAM = re.compile("generated |PowerPoint Presentation$|Word Document$")
_TELLING = ("title", "subject", "keywords", "description", "category", "contentStatus")


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
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise Unreadable(
            f"is damaged: its archive cannot be opened ({error})", hint="Ask the user for the file again."
        ) from error


def parse_xml(data: bytes) -> Any:
    """The root element. No entity is expanded, no address or file is opened, depth and text are limited."""
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    return etree.fromstring(data, parser)


def properties(archive: zipfile.ZipFile, text: str) -> str:
    """What an Office file says about itself but not in its text, as a list with a title; '' for nothing."""
    lines = []
    for part in ("docProps/core.xml", "docProps/custom.xml"):
        for each in parse_xml(archive.read(part)) if part in archive.namelist() else ():
            name = each.get("name") or str(each.tag).rpartition("}")[2]
            value = " ".join("".join(each.itertext()).split())
            if (
                (each.get("name") or name in _TELLING)
                and value not in text
                and not _OF_A_PROGRAM.match(value)
            ):
                lines.append(f"- {name}: {value}")
    return "\n".join(["Properties of the file:", *lines]) if lines else ""


def shown_name(name: str) -> str:
    """An entry's name for reading only: no control or direction characters, no longer than 200 characters."""
    plain = "".join(c if unicodedata.category(c)[0] not in "CZ" else " " for c in name)
    return one_line(plain, 200) or "(no name)"


def _row(member: zipfile.ZipInfo) -> list[str]:
    remark = "protected with a password" if member.flag_bits & 1 else ""
    year, month, day = member.date_time[:3]
    changed = f"{year}-{month:02}-{day:02}"
    return [shown_name(member.filename), str(member.file_size), str(member.compress_size), changed, remark]
