"""Small files of each format, as bytes: the material of the tasks."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from datetime import date
from email.message import EmailMessage
from typing import Any

from openpyxl import Workbook
from openpyxl.comments import Comment
from pptx import Presentation

Row = Sequence[Any]


def csv_file(head: Sequence[str], rows: Sequence[Row]) -> bytes:
    """A table as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue().encode()


def text_file(*paragraphs: str) -> bytes:
    """Paragraphs, an empty line between them: text or Markdown."""
    return ("\n\n".join(paragraphs) + "\n").encode()


def workbook(
    sheets: Mapping[str, Sequence[Row]],
    hidden: Sequence[str] = (),
    comments: Mapping[tuple[str, str], str] | None = None,
) -> bytes:
    """An .xlsx file: rows by sheet, the names of hidden sheets, and comments by sheet and cell."""
    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
        sheet.sheet_state = "hidden" if name in hidden else "visible"
    for (name, cell), text in (comments or {}).items():
        book[name][cell].comment = Comment(text, "Office")
    return _saved(book)


def word_file(*blocks: str | Sequence[Row]) -> bytes:
    """A .docx file: paragraphs, '# ' before headings, and tables."""
    from docx import Document  # the demo runs without it

    document = Document()
    for block in blocks:
        if isinstance(block, str):
            if block.startswith("# "):
                document.add_heading(block[2:], level=1)
            else:
                document.add_paragraph(block)
            continue
        grid = document.add_table(rows=0, cols=len(block[0]))
        for row in block:
            for cell, value in zip(grid.add_row().cells, row, strict=True):
                cell.text = str(value)
    return _saved(document)


def slides(*pages: tuple[str, Sequence[str], str]) -> bytes:
    """A .pptx file: title, lines and speaker notes ('' none) of each slide."""
    deck = Presentation()
    for title, lines, notes in pages:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(lines)
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    return _saved(deck)


def mail(sender: str, to: str, date: str, subject: str, body: str) -> bytes:
    """An .eml file."""
    message = EmailMessage()
    message["From"], message["To"], message["Date"], message["Subject"] = sender, to, date, subject
    message.set_content(body)
    return message.as_bytes()


def clock(minutes: int) -> str:
    """Minutes since midnight as 7:30."""
    return f"{minutes // 60}:{minutes % 60:02}"


def letter(name: str, day: date, subject: str, body: str) -> bytes:
    """A mail from a person to the office."""
    address = f"{name.split()[0].lower()}@example.org"
    return mail(address, "office@example.org", f"{day:%a, %d %b %Y} 09:30:00 +0000", subject, body)


def _saved(file: Any) -> bytes:
    """The file, without the time of its making: the same material gives the same bytes."""
    made, fixed = io.BytesIO(), io.BytesIO()
    file.save(made)
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(fixed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"2026-01-01T00:00:00Z", content)
            new.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return fixed.getvalue()
