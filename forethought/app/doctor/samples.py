"""Tiny documents of each format, made on the spot: what `doctor` lets the parsers read."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

WORD = "forethought-sample"
"""Stands in every sample; a parser that works finds it."""


def _docx() -> bytes:
    from docx import Document

    document = Document()
    document.add_paragraph(WORD)
    return _saved(document.save)


def _pptx() -> bytes:
    from pptx import Presentation

    slides = Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[5])
    slide.shapes.title.text = WORD
    return _saved(slides.save)


def _xlsx() -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    book.active.append([WORD, 1])
    return _saved(book.save)


def _pdf() -> bytes:
    """A one-page PDF, written by hand."""
    text = f"BT /F1 12 Tf 20 100 Td ({WORD}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return body + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (size, table, size, len(body))
    )


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


_EML = f"From: a@example.org\nTo: b@example.org\nSubject: sample\nContent-Type: text/plain\n\n{WORD}\n"
_HTML = f"<html><body><h1>Sample</h1><p>{WORD}</p></body></html>"
SAMPLES: dict[str, Callable[[], bytes]] = {
    "txt": lambda: f"{WORD}\n".encode(),
    "md": lambda: f"# Sample\n\n{WORD}\n".encode(),
    "csv": lambda: f"name,value\n{WORD},1\n".encode(),
    "json": lambda: json.dumps({"name": WORD}).encode(),
    "html": _HTML.encode,
    "eml": _EML.encode,
    "docx": _docx,
    "pptx": _pptx,
    "xlsx": _xlsx,
    "pdf": _pdf,
}
"""Extension -> makes the sample's bytes."""
