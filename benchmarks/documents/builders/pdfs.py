"""PDF files of raw objects, so that text can be drawn in any order, at any place, in any way."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.documents.builders.pictures import jpg

_TURNS = {0: "1 0 0 1", 90: "0 1 -1 0", 180: "-1 0 0 -1"}
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
_IMAGE = "/Type /XObject /Subtype /Image /Width 420 /Height 160 /ColorSpace /DeviceGray /BitsPerComponent 8"


def pdf(
    pages: Sequence[Any],
    *,
    catalog: str = "",
    objects: Mapping[str, str] = {},
    files: Mapping[str, str] = {},
    bookmarks: Sequence[Sequence[Any]] = (),
    times: int = 1,
    info: str = "",
) -> bytes:
    """A file.

    Args:
        pages: Lists of [x, y, text, size, options], or mappings with `text` (such a list), `draw` (operators
            before the text; `over`: after it), `annots` (the inside of annotations, or '@name'), `picture` (a
            scanned text), `page` and `xobjects` (more keys).
        catalog: More keys of the catalogue. '@name' refers to an object, as everywhere in raw text.
        objects: Raw objects, by name.
        files: Attached files: name -> text.
        bookmarks: [title, page from 0].
        times: How often the pages are repeated; '{n}' in a text is the number of the page.
        info: The document's properties.
    """
    named = {"catalog": b"", "pages": b"", "info": f"<< {info} >>".encode(), "F1": _FONT}
    named |= {name: raw.encode("cp1252") for name, raw in objects.items()}
    for number, page in enumerate([*pages] * times, 1):
        _page(named, number, page if isinstance(page, dict) else {"text": page})
    catalog += _attached(named, files) + _bookmarks(named, bookmarks)
    kids = " ".join(f"@page{number}" for number in range(1, len(pages) * times + 1))
    named["pages"] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages) * times} >>".encode()
    named["catalog"] = f"<< /Type /Catalog /Pages @pages {catalog} >>".encode("cp1252")
    return _written(named)


def _stream(data: bytes, about: str = "") -> bytes:
    head = f"<< /Length {len(data)} {about} >>"
    return b"%s\nstream\n%s\nendstream" % (head.encode(), data)


def _text(x: float, y: float, text: str, size: float = 11, options: Mapping[str, Any] = {}) -> bytes:
    """Operators that draw a text. Options: turn (degrees), mode (3: not visible), gray, layer."""
    escaped = re.sub(r"([\\()])", r"\\\1", text)
    state = f"{options.get('gray', 0)} g BT /F1 {size} Tf {options.get('mode', 0)} Tr"
    drawn = f"{state} {_TURNS[options.get('turn', 0)]} {x} {y} Tm ({escaped}) Tj ET\n"
    layer = options.get("layer")
    return (f"/OC /{layer} BDC\n{drawn}EMC\n" if layer else drawn).encode("cp1252")


def _page(named: dict[str, bytes], number: int, page: Mapping[str, Any]) -> None:
    drawn = f"{page.get('draw', '')}\n".encode()
    if "picture" in page:
        named[f"image{number}"] = _stream(jpg(page["picture"]), f"{_IMAGE} /Filter /DCTDecode")
        drawn += f"q 420 0 0 160 90 600 cm /image{number} Do Q\n".encode()
    for x, y, text, *more in page.get("text", ()):
        drawn += _text(x, y, text.replace("{n}", str(number)), *more)
    drawn += page.get("over", "").encode()
    named[f"content{number}"] = _stream(zlib.compress(drawn), "/Filter /FlateDecode")
    annots = (raw if raw.startswith("@") else f"<< /Type /Annot {raw} >>" for raw in page.get("annots", ()))
    layers = " ".join(f"/{name} @{name}" for name in named if name.startswith("layer"))
    images = f"/image{number} @image{number}" if "picture" in page else page.get("xobjects", "")
    named[f"page{number}"] = (
        f"<< /Type /Page /Parent @pages /MediaBox [0 0 595 842] /Contents @content{number}"
        f" {page.get('page', '')} /Annots [{' '.join(annots)}]"
        f" /Resources << /Font << /F1 @F1 >> /XObject << {images} >> /Properties << {layers} >> >> >>"
    ).encode("cp1252")


def _attached(named: dict[str, bytes], files: Mapping[str, str]) -> str:
    names = ""
    for at, (name, text) in enumerate(files.items()):
        named[f"data{at}"] = _stream(text.encode(), "/Type /EmbeddedFile")
        named[f"file{at}"] = f"<< /Type /Filespec /F ({name}) /UF ({name}) /EF << /F @data{at} >> >>".encode()
        names += f"({name}) @file{at} "
    return f"/Names << /EmbeddedFiles << /Names [{names}] >> >> " if files else ""


def _bookmarks(named: dict[str, bytes], bookmarks: Sequence[Sequence[Any]]) -> str:
    if not bookmarks:
        return ""
    last = len(bookmarks) - 1
    for at, (title, page) in enumerate(bookmarks):
        after = f"/Next @mark{at + 1}" if at < last else ""
        head = f"<< /Title ({title}) /Parent @marks /Dest [@page{page + 1} /XYZ 0 842 0] {after} >>"
        named[f"mark{at}"] = head.encode("cp1252")
    named["marks"] = f"<< /First @mark0 /Last @mark{last} /Count {len(bookmarks)} >>".encode()
    return "/Outlines @marks "


def _written(named: Mapping[str, bytes]) -> bytes:
    numbers = {name.encode(): number for number, name in enumerate(named, 1)}
    body, table = b"%PDF-1.7\n", b"0000000000 65535 f \n"
    for number, raw in enumerate(named.values(), 1):
        table += b"%010d 00000 n \n" % len(body)
        head, stream, rest = raw.partition(b"stream\n")
        head = re.sub(rb"@(\w+)", lambda found: b"%d 0 R" % numbers[found[1]], head)
        body += b"%d 0 obj\n%s\nendobj\n" % (number, head + stream + rest)
    size = len(named) + 1
    trailer = b"trailer << /Size %d /Root 1 0 R /Info 3 0 R >>\nstartxref\n%d\n%%%%EOF" % (size, len(body))
    return body + b"xref\n0 %d\n" % size + table + trailer
