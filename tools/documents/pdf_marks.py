"""Form fields, comments, struck passages and bookmarks of a PDF."""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from forethought.text import one_line
from forethought.tools.documents.pdf_words import Box

_LONGEST_QUOTE = 100


def marks(document: Any, page: Any, text_page: Any) -> list[str]:
    """The form fields and comments of a page, as lists with a title.

    Args:
        document: PDFium's document, with its forms.
        page: The page.
        text_page: PDFium's text of the page.
    """
    from pypdfium2 import raw

    fields: list[str] = []
    comments: list[str] = []
    for mark, kind in _annotations(page):
        comment = "" if kind in (raw.FPDF_ANNOT_POPUP, raw.FPDF_ANNOT_LINK) else _string(mark, b"Contents")
        words = " ".join(" ".join(text_page.get_text_bounded(*box) for box in _quads(mark)).split())
        if kind == raw.FPDF_ANNOT_WIDGET:
            fields += _field(document, mark)
        elif comment:
            author = _string(mark, b"T")
            about = f" on '{one_line(words, _LONGEST_QUOTE)}'" if words else ""
            by = f" by {author}" if author else ""
            what = "insertion" if kind == raw.FPDF_ANNOT_CARET else "comment"
            bare = what == "comment" and not about and not by
            comments.append(f"- {comment}" if bare else f"- [{what}{about}{by}: {comment}]")
        elif kind == raw.FPDF_ANNOT_STAMP and (stamp := _string(mark, b"Name")):
            comments.append(f"- [stamp: {stamp}]")
        elif kind == raw.FPDF_ANNOT_HIGHLIGHT and words:
            comments.append(f"- [highlighted: {words}]")
    lists = (("Form fields:", fields), ("Comments:", comments))
    return ["\n".join([title, *lines]) for title, lines in lists if lines]


def struck_boxes(page: Any) -> list[Box]:
    """The boxes that annotations of a page strike out."""
    from pypdfium2 import raw

    return [
        box for mark, kind in _annotations(page) if kind == raw.FPDF_ANNOT_STRIKEOUT for box in _quads(mark)
    ]


def _annotations(page: Any) -> Iterator[tuple[Any, int]]:
    from pypdfium2 import raw

    for number in range(raw.FPDFPage_GetAnnotCount(page)):
        if mark := raw.FPDFPage_GetAnnot(page, number):
            yield mark, raw.FPDFAnnot_GetSubtype(mark)
            raw.FPDFPage_CloseAnnot(mark)


def _quads(mark: Any) -> list[Box]:
    """The boxes that a mark on text covers."""
    from pypdfium2 import raw

    boxes, quad = [], raw.FS_QUADPOINTSF()
    for number in range(raw.FPDFAnnot_CountAttachmentPoints(mark)):
        raw.FPDFAnnot_GetAttachmentPoints(mark, number, quad)
        xs, ys = (quad.x1, quad.x2, quad.x3, quad.x4), (quad.y1, quad.y2, quad.y3, quad.y4)
        boxes.append((min(xs), min(ys), max(xs), max(ys)))
    return boxes


def _field(document: Any, mark: Any) -> list[str]:
    """A filled field of a form as a line; PDFium finds its inherited name and value."""
    from pypdfium2 import raw

    form = document.formenv

    def text(function: Callable[..., int]) -> str:
        return _text(lambda buffer, size: function(form, mark, buffer, size)) if form else ""

    name = text(raw.FPDFAnnot_GetFormFieldAlternateName) or text(raw.FPDFAnnot_GetFormFieldName)
    name = name or _string(mark, b"TU") or _string(mark, b"T")
    value = text(raw.FPDFAnnot_GetFormFieldValue) or _string(mark, b"V")
    kind = raw.FPDFAnnot_GetFormFieldType(form, mark) if form else -1
    ticked = form and raw.FPDFAnnot_IsChecked(form, mark)
    if kind == raw.FPDF_FORMFIELD_CHECKBOX:
        value = "ticked" if ticked else "not ticked"
    elif kind == raw.FPDF_FORMFIELD_RADIOBUTTON:
        value = text(raw.FPDFAnnot_GetFormFieldExportValue) if ticked else "Off"
    elif kind in (raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):
        labels = (
            _text(partial(raw.FPDFAnnot_GetOptionLabel, form, mark, number))
            for number in range(raw.FPDFAnnot_GetOptionCount(form, mark))
            if raw.FPDFAnnot_IsOptionSelected(form, mark, number)
        )
        value = ", ".join(labels) or value
    return [f"- {name or '(no name)'}: {value}"] if value not in ("", "Off") else []


def _string(mark: Any, key: bytes) -> str:
    """A text of a field or comment on one line; '' if there is none."""
    from pypdfium2 import raw

    return _text(lambda buffer, size: raw.FPDFAnnot_GetStringValue(mark, key, buffer, size))


def _text(ask: Callable[[Any, int], int]) -> str:
    """A text that PDFium writes into a buffer, on one line."""
    from pypdfium2 import raw

    length = ask(None, 0)
    buffer = ctypes.create_string_buffer(max(length, 2))
    ask(ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), length)
    return " ".join(buffer.raw.decode("utf-16-le", "replace").rstrip("\0").split())


def bookmarks(document: Any) -> dict[int, list[str]]:
    """Titles by the page that they lead to, from 0."""
    titles: dict[int, list[str]] = defaultdict(list)
    for mark in document.get_toc(max_depth=3):
        target = mark.get_dest()
        page = target.get_index() if target else None
        if page is not None and (title := " ".join(mark.get_title().split())):
            titles[page].append(title)
    return titles
