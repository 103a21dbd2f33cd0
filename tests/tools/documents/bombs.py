"""Small archives and documents that attack a parser, for the tests of its limits."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping

BILLION_LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY l0 "lol">'
    + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    + "]><lolz>&l9;</lolz>"
)
EXTERNAL_ENTITY = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY s SYSTEM "file:///etc/passwd">]><x>&s;</x>'
PARAMETER_ENTITY = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY % s SYSTEM "http://127.0.0.1:9/evil.dtd"> %s;]><x>text</x>'
)
QUADRATIC = f'<!DOCTYPE x [<!ENTITY a "{"a" * 50_000}">]><x>{"&a;" * 50_000}</x>'

MAIN_PART = {"docx": "word/document.xml", "xlsx": "xl/workbook.xml", "pptx": "ppt/presentation.xml"}


def zipped(members: Mapping[str, bytes | str]) -> bytes:
    """A zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def document(kind: str, members: Mapping[str, bytes | str]) -> bytes:
    """An archive that passes for a document of this kind, with these members besides its own or instead."""
    if kind == "epub":
        container = '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'
        package = (
            '<package><manifest><item id="c" href="c.xhtml"/></manifest>'
            '<spine><itemref idref="c"/></spine></package>'
        )
        own = {"META-INF/container.xml": container, "b.opf": package, "c.xhtml": "<html><p>Tea</p></html>"}
        return zipped({"mimetype": "application/epub+zip", **own, **members})
    return zipped({MAIN_PART[kind]: "<x/>", **members})


def overlapping(count: int, size: int) -> bytes:
    """An archive whose entries all stand for the same few bytes: they unpack to count times size."""
    one = zipped({"a": bytes(size)})
    start = one.index(b"PK\x01\x02")
    end = one.index(b"PK\x05\x06")
    entry = one[start:end]
    directory = entry * count
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), start, 0)
    return one[:start] + directory + tail


def lying_about_size(kind: str) -> bytes:
    """A document whose main part says that it is small when unpacked and is not."""
    data = bytearray(document(kind, {MAIN_PART[kind]: b"<x>" + b"a" * 50_000_000 + b"</x>"}))
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = data.index(signature) + offset
        data[at : at + 4] = struct.pack("<L", 1000)
    return bytes(data)
