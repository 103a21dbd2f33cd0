"""PDFs through pypdfium2, page by page. PDFium is not safe for threads, so one PDF is read at a time."""

from __future__ import annotations

import re
import threading
import time

from tools.documents.document import Document, Section, Unreadable

LONGEST_S = 60.0
"""Longest reading of one PDF, in seconds: the others wait for it."""
_ONE_AT_A_TIME = threading.Lock()
_LINE_END_HYPHEN = re.compile("[\ufffe\x02]")
NO_TEXT = "(This page has no text; it is probably an image.)"


def read_pdf(data: bytes) -> Document:
    """A section a page. Raises Unreadable for a locked PDF and for one that is only images."""
    with _ONE_AT_A_TIME:
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
        texts, end = [], time.monotonic() + LONGEST_S
        for number in range(len(document)):
            if time.monotonic() > end:
                raise Unreadable(
                    f"takes longer than {LONGEST_S:g} seconds to read ({len(document)} pages)",
                    cause="timeout",
                    hint="Ask the user for the pages that matter, as a file of their own.",
                )
            texts.append(_page(document, number))
        return texts
    finally:
        document.close()


def _page(document: object, number: int) -> str:
    page = document[number]  # type: ignore[index]
    text_page = page.get_textpage()
    try:
        text = text_page.get_text_bounded()
    finally:
        text_page.close()
        page.close()
    text = _LINE_END_HYPHEN.sub("-", text).replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()
