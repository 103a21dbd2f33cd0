"""Small archives and documents that attack a parser, for the tests of its limits."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

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


def zipped(members: Mapping[str, bytes | str]) -> bytes:
    """A zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def injected(path: Path, word: str, xml: str) -> bytes:
    """The document at `path`, where `word` in its text is the entity that `xml` declares."""
    doctype, entities = re.search(r"(<!DOCTYPE .*?\]>)<\w+>([^<]*)</", xml, re.DOTALL).groups()  # type: ignore[union-attr]
    members: dict[str, bytes | str] = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            members[name] = content = archive.read(name)
            if name.endswith("xml") and word.encode() in content:
                head, _, rest = content.decode().partition("?>")
                members[name] = f"{head}?>{doctype}{rest.replace(word, entities)}"
    return zipped(members)


def overlapping(count: int, size: int) -> bytes:
    """An archive whose entries all stand for the same few bytes: they unpack to count times size."""
    one = zipped({"a": bytes(size)})
    start = one.index(b"PK\x01\x02")
    end = one.index(b"PK\x05\x06")
    entry = one[start:end]
    directory = entry * count
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), start, 0)
    return one[:start] + directory + tail
