"""PDFs through pypdfium2, page by page: the text, filled form fields, and comments.

PDFium is not safe for threads: one process reads one PDF at a time (`tools.documents.reader`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from forethought.text import number_ranges
from forethought.tools.documents.document import Document, Section, Unreadable
from forethought.tools.documents.pdf_marks import bookmarks, marks, struck_boxes
from forethought.tools.documents.pdf_words import drawn_on, text_of

NO_TEXT = "(This page has no text; it is probably an image. inspect_image(path, page={}) shows it.)"
PICTURE = "(Most of this page is a picture, whose text is not here. inspect_image(path, page={}) shows it.)"
_EMPTY = "(This page is empty.)"
_UNDECODED = "(The characters of this page cannot be decoded. inspect_image(path, page={}) shows it.)"
_LARGE = 0.4
"""The least share of a page that a picture covers to count as most of it."""
_FEW_WORDS = 40
"""Words on a page that has such a picture: more come from text recognition, or belong to a form."""
_STRANGE = re.compile("[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f]")


def read_pdf(data: bytes) -> Document:
    """A section a page. Raises Unreadable for a locked PDF and for one that is only images."""
    with open_pdf(data) as document:
        document.init_forms()
        titles = bookmarks(document)
        texts = [_page(document, number, titles.get(number, [])) for number in range(len(document))]
    of = len(texts)
    unseen = [number for number, (_, missing) in enumerate(texts, 1) if missing not in ("", _EMPTY)]
    pages = f"Page{'s' * (len(unseen) > 1)} {number_ranges(unseen)} {'have' if len(unseen) > 1 else 'has'}"
    note = f"{pages} no text, or little: inspect_image(path, page) shows it." if unseen else ""
    if not any(text for text, _ in texts):
        what = "its page is an image" if of == 1 else f"its {of} pages are images"
        raise Unreadable(
            f"has no text: {what} (a scan), which cannot be read as text",
            cause="empty",
            hint=f"{note} Or ask the user for a version with recognised text (OCR).".strip(),
        )
    sections = []
    for number, (text, missing) in enumerate(texts, 1):
        shown = "\n\n".join(filter(None, (text, missing.format(number))))
        sections.append(Section(shown, str(number), f"## Page {number} of {of}"))
    return Document(tuple(sections), unit="page", note=note)


@contextmanager
def open_pdf(data: bytes) -> Iterator[Any]:
    """PDFium's document. Raises Unreadable if it is locked."""
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
        yield document
    finally:
        document.close()


def _page(document: Any, number: int, titles: list[str]) -> tuple[str, str]:
    """A page's text, and why this is not all of it: '' if it is."""
    page = document[number]
    text_page = page.get_textpage()
    try:
        drawn = drawn_on(page)
        text = text_of(text_page, drawn, struck_boxes(page))
        noted = marks(document, page, text_page)
        width, height = page.get_size()
    finally:
        text_page.close()
        page.close()
    words = len(text.split())
    boxes = (area.box for area in drawn.areas if area.picture)
    # A scanner may divide the picture into strips.
    large = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in boxes) > _LARGE * width * height
    missing = "" if words else NO_TEXT if drawn.order else _EMPTY
    if words and large and words < _FEW_WORDS:
        missing = PICTURE
    if len(_STRANGE.findall(text)) > len(text) / 4:
        text, missing = "", _UNDECODED
    return "\n\n".join(filter(None, [_with_titles(text, titles), *noted])), missing


def _with_titles(text: str, titles: list[str]) -> str:
    """The text with its bookmarks as headings."""
    for title in titles:
        words = r"\s+".join(map(re.escape, title.split()))
        line = re.compile(rf"^(?:[\w.]{{1,9}}[ \t]+)?{words}$", re.MULTILINE | re.IGNORECASE)
        if found := line.search(text):
            before, after = text[: found.start()].rstrip("\n"), text[found.end() :].lstrip("\n")
            heading = f"### {' '.join(found[0].split())}"
            text = "\n\n".join(filter(None, (before, heading, after)))
        else:
            text = f"### {title}\n\n{text}"
    return text
