"""Archives (zip, tar, gzip, bzip2, xz) and the XML in documents that are archives.

Nothing is written to disk, no name is followed, no entity expanded. The files in an archive become files of
their own (`tools.documents.members`).
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import IO, Any

from forethought.tools.documents.document import Document, Section, Unreadable

LARGEST = 50_000_000
"""Bytes of a file in an archive or a message."""
MOST_UNPACKED = 200_000_000
"""Bytes of all files in one, also in the archives in it."""
_BOMB = 100
"""An archive that unpacks to this many times its size is meant to fill the memory."""
PACKED: dict[str, Callable[[IO[bytes]], Any]] = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}

_OF_A_PROGRAM = re.compile("generated |PowerPoint Presentation$|Word Document$")
_TELLING = ("title", "subject", "keywords", "description", "category", "contentStatus")


@dataclass(frozen=True)
class Entry:
    """A file in an archive, a message or a document."""

    name: str
    read: Callable[[], bytes]
    """Its content. Raises Unreadable."""
    size: int | None = None
    about: str = ""
    """Its media type, or when it was changed."""


def read_archive(data: bytes) -> Document:
    """Says that this is an archive. `tools.documents.formats` adds the list of files."""
    return Document((Section("This is an archive."),))


def zip_entries(data: bytes) -> Iterator[Entry]:
    """The files of a zip archive. Raises Unreadable if it is damaged or a bomb."""
    archive = open_archive(data)
    infos = [info for info in archive.infolist() if not info.is_dir()]
    total = sum(info.file_size for info in infos)
    if total > max(MOST_UNPACKED, _BOMB * len(data)):
        problem = f"unpacks to {total:,} bytes, {total // len(data):,} times its size, and is not unpacked"
        raise Unreadable(problem, cause="limit", hint="Ask the user for the files themselves.")
    for info in infos:
        year, month, day = info.date_time[:3]
        about = f"changed {year}-{month:02}-{day:02}"
        yield Entry(_zip_name(info), partial(_unzipped, archive, info), info.file_size, about)


def tar_entries(data: bytes) -> Iterator[Entry]:
    """The files of a tar archive, packed or not. Raises Unreadable if it is a bomb."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:*", errors="replace") as archive:
        passed = 0
        for info in archive:
            passed += info.size
            if passed > max(MOST_UNPACKED, _BOMB * len(data)):
                raise Unreadable("unpacks to too much, and is not unpacked", cause="limit")
            if info.isfile() and (file := archive.extractfile(info)):
                yield Entry(info.name, partial(limited, file), info.size)


def packed_entries(data: bytes, kind: str, name: str) -> Iterator[Entry]:
    """The one file in a packed file.

    Args:
        data: The packed file.
        kind: How it is packed: gz, bz2 or xz.
        name: Its name, which gives the name of the file in it.
    """
    inner = PurePosixPath(name).name.removesuffix(f".{kind}")
    yield Entry(inner, partial(limited, PACKED[kind](io.BytesIO(data))))


def is_tar(data: bytes, kind: str = "") -> bool:
    """Whether the bytes are a tar archive, or unpack to one with `kind`: gz, bz2 or xz."""
    with suppress(OSError, EOFError, lzma.LZMAError, zlib.error):
        start = PACKED[kind](io.BytesIO(data)).read(512) if kind else data[:512]
        return bool(start[257:262] == b"ustar")
    return False


def limited(file: IO[bytes]) -> bytes:
    """All of `file`. Raises Unreadable if that is too much."""
    data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise Unreadable(f"larger than {LARGEST // 1_000_000} MB")
    return data


def open_archive(data: bytes) -> zipfile.ZipFile:
    """The archive. Raises Unreadable if it is damaged."""
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
    """The properties of an Office file that its text does not have, as a list with a title; '' for none."""
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


def _zip_name(info: zipfile.ZipInfo) -> str:
    """The entry's name; an archive made on an old system may hold UTF-8 without saying so."""
    with suppress(UnicodeError):
        if not info.flag_bits & 0x800:
            return info.filename.encode("cp437").decode()
    return info.filename


def _unzipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.flag_bits & 1:
        raise Unreadable("protected with a password")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise Unreadable("a link")
    with archive.open(info) as file:
        return limited(file)
