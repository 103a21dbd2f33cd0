"""PDFs through pypdfium2, page by page: the text, what is filled into a form's fields, and comments.

PDFium is not safe for threads: one process reads one PDF at a time (`tools.documents.reader`).
"""

from __future__ import annotations

import ctypes
import re
from typing import Any

from forethought.tools.documents.document import Document, Section, Unreadable

_LINE_END_HYPHEN = re.compile("[\ufffe\x02]")
NO_TEXT = "(This page has no text; it is probably an image.)"


def read_pdf(data: bytes) -> Document:
    """A section a page. Raises Unreadable for a locked PDF and for one that is only images."""
    texts = _pages(data)
    if not any(texts):
        pages = "its page is an image" if len(texts) == 1 else f"its {len(texts)} pages are images"
        raise Unreadable(
            f"has no text: {pages} (a scan), which cannot be read as text",
            cause="empty",
            hint="Ask the user for a version with recognised text (OCR), or for what the document says.",
        )
    of = len(texts)
    sections = (
        Section(text or NO_TEXT, str(number), f"## Page {number} of {of}")
        for number, text in enumerate(texts, 1)
    )
    return Document(tuple(sections), unit="page")


def _pages(data: bytes) -> list[str]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise Unreadable(
                "is locked with a password and cannot be opened",
                hint="Ask the user for a copy without the password.",
            ) from error
        raise
    try:
        return [_page(document, number) for number in range(len(document))]
    finally:
        document.close()


def _page(document: Any, number: int) -> str:
    page = document[number]
    text_page = page.get_textpage()
    try:
        text, marks = text_page.get_text_bounded(), _marks(page)
    finally:
        text_page.close()
        page.close()
    text = _LINE_END_HYPHEN.sub("-", text).replace("\r\n", "\n").replace("\r", "\n")
    text = "\n".join(line.rstrip() for line in text.split("\n")).strip()
    return "\n\n".join(filter(None, [text, *marks]))


def _marks(page: Any) -> list[str]:
    """What stands in form fields, and comments: neither is part of a page's text."""
    from pypdfium2 import raw

    fields: list[str] = []
    comments: list[str] = []
    for number in range(raw.FPDFPage_GetAnnotCount(page)):
        mark = raw.FPDFPage_GetAnnot(page, number)
        if not mark:
            continue
        kind = raw.FPDFAnnot_GetSubtype(mark)
        if kind == raw.FPDF_ANNOT_WIDGET:
            value, name = _string(mark, b"V"), _string(mark, b"TU") or _string(mark, b"T")
            if value and value != "Off":  # an empty box
                fields.append(f"- {name or '(no name)'}: {value}")
        elif kind != raw.FPDF_ANNOT_POPUP and (comment := _string(mark, b"Contents")):
            comments.append(f"- {comment}")
        raw.FPDFPage_CloseAnnot(mark)
    return [
        "\n".join([title, *lines])
        for title, lines in (("Form fields:", fields), ("Comments:", comments))
        if lines
    ]


def _string(mark: Any, key: bytes) -> str:
    """A text of a field or comment on one line; '' if there is none."""
    from pypdfium2 import raw

    length = raw.FPDFAnnot_GetStringValue(mark, key, None, 0)
    buffer = ctypes.create_string_buffer(length)
    raw.FPDFAnnot_GetStringValue(mark, key, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), length)
    return " ".join(buffer.raw.decode("utf-16-le", "replace").rstrip("\0").split())
