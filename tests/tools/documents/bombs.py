"""Small archives and documents that attack a parser, for the tests of its limits."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
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


def pdf(*objects: bytes) -> bytes:
    """A document of these objects, numbered from 1, the first its catalogue."""
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % item for item in enumerate(objects, 1))
    return b"%PDF-1.7\n" + body + b"trailer << /Size %d /Root 1 0 R >>\n%%%%EOF" % (len(objects) + 1)


def _packed(data: bytes, times: int) -> bytes:
    """A stream, deflated so many times."""
    for _ in range(times):
        data = zlib.compress(data, 9)
    head = b"<< /Length %d /Filter [%s] >>" % (len(data), b"/FlateDecode " * times)
    return b"%s\nstream\n%s\nendstream" % (head, data)


def _page(content: bytes) -> bytes:
    return pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        content,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )


_MEGABYTES = 40
PDFS = {
    "a long text": _page(_packed(b"BT /F1 12 Tf (" + b"a" * (_MEGABYTES << 20) + b") Tj ET", 2)),
    "many texts": _page(_packed(b"BT /F1 12 Tf " + b"(aaa) Tj " * (_MEGABYTES << 17) + b"ET", 2)),
    "a chain of filters": _page(_packed(bytes(_MEGABYTES << 22), 3)),
}
"""Files of a kilobyte that take hundreds of megabytes to read."""
