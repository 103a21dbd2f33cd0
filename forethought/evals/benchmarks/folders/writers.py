"""Documents as bytes by the ending of their name, fast enough for thousands."""

from __future__ import annotations

import io
import textwrap
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from email.message import EmailMessage
from functools import cache
from typing import Any
from xml.sax.saxutils import escape

from forethought.evals.types import DataError
from forethought.extras import install_command

_MAIN = "word/document.xml"
_STAMP = (2026, 1, 1, 0, 0, 0)
_CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"/>'
)


@dataclass(frozen=True)
class Document:
    """The content of a document in any format."""

    title: str
    paragraphs: Sequence[str]
    rows: Sequence[Sequence[Any]] = ()
    """A table, its headings first."""
    sender: str = "office@example.org"
    day: date = date(2026, 1, 1)
    pictures: Sequence[bytes] = ()
    """JPEG images: in a .docx or .pdf below the text, in an .eml attached."""


def write(suffix: str, document: Document) -> bytes:
    """The bytes of a file with this ending (docx, pdf, eml, xlsx, csv, md or txt).

    Raises DataError if the package that writes PDF is not installed."""
    return _WRITERS[suffix](document)


def _text(document: Document) -> bytes:
    rows = "\n".join("\t".join(map(str, row)) for row in document.rows)
    return ("\n\n".join(filter(None, [document.title, *document.paragraphs, rows])) + "\n").encode()


def _markdown(document: Document) -> bytes:
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in document.rows]
    if lines:
        lines.insert(1, "|---" * len(document.rows[0]) + "|")
    return (
        "\n\n".join([f"# {document.title}", *document.paragraphs, "\n".join(lines)]).rstrip() + "\n"
    ).encode()


def _mail(document: Document) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = document.sender, "office@example.org", document.title
    message["Date"] = f"{document.day:%a, %d %b %Y} 09:30:00 +0000"
    rows = ["\t".join(map(str, row)) for row in document.rows]
    message.set_content("\n\n".join([*document.paragraphs, *rows]) + "\n", cte="8bit")
    for number, picture in enumerate(document.pictures, 1):
        message.add_attachment(picture, maintype="image", subtype="jpeg", filename=f"photo-{number}.jpg")
    return message.as_bytes()


def _csv(document: Document) -> bytes:
    from forethought.evals.benchmarks.traps.office import csv_file

    return csv_file(document.rows[0], document.rows[1:])


def _workbook(document: Document) -> bytes:
    from forethought.evals.benchmarks.traps.office import workbook

    rows = [[text] for text in (document.title, *document.paragraphs)]
    return workbook({"Sheet": [*rows, *document.rows]})


@cache
def _word_frame() -> tuple[bytes, str, str]:
    """An empty Word file without its main part, and that part before and after the body."""
    from docx import Document as Word

    made, frame = io.BytesIO(), io.BytesIO()
    Word().save(made)
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(frame, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name not in (_MAIN, "docProps/core.xml"):
                new.writestr(zipfile.ZipInfo(name, _STAMP), old.read(name), zipfile.ZIP_DEFLATED)
        new.writestr(zipfile.ZipInfo("docProps/core.xml", _STAMP), _CORE, zipfile.ZIP_DEFLATED)
        main = old.read(_MAIN).decode()
    start = main.index("<w:body>") + len("<w:body>")
    return frame.getvalue(), main[:start], main[main.index("<w:sectPr") :]


def _word(document: Document) -> bytes:
    """A Word file: python-docx makes the frame once, and only the body is written anew, 20 times as fast."""
    frame, before, after = _word_frame()
    cells = [[_word_paragraph(str(cell)) for cell in row] for row in document.rows]
    rows = ["<w:tr>" + "".join(f"<w:tc>{cell}</w:tc>" for cell in row) + "</w:tr>" for row in cells]
    title = _word_paragraph(document.title, '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>')
    table = f"<w:tbl><w:tblPr/>{''.join(rows)}</w:tbl><w:p/>" if rows else ""
    body = title + "".join(map(_word_paragraph, document.paragraphs)) + table
    made = io.BytesIO(frame)
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr(zipfile.ZipInfo(_MAIN, _STAMP), before + body + after, zipfile.ZIP_DEFLATED)
        for number, picture in enumerate(document.pictures, 1):
            archive.writestr(zipfile.ZipInfo(f"word/media/image{number}.jpg", _STAMP), picture)
    return made.getvalue()


def _word_paragraph(text: str, style: str = "") -> str:
    return f'<w:p>{style}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def _pdf(document: Document) -> bytes:
    try:
        from fpdf import FPDF
    except ImportError as error:
        raise DataError(f"the files need fpdf2: {install_command('evals')}") from error
    pdf = FPDF()
    pdf.set_creation_date(datetime(document.day.year, document.day.month, document.day.day, tzinfo=UTC))
    pdf.add_page()
    rows = ["   ".join(map(str, row)) for row in document.rows]
    for number, paragraph in enumerate([document.title, *document.paragraphs, *rows]):
        pdf.set_font("Helvetica", "" if number else "B", 11 if number else 14)
        for line in textwrap.wrap(_latin(paragraph), 92):  # fpdf2's own wrapping takes ten times as long
            pdf.cell(0, 6, line, new_x="LMARGIN", new_y="NEXT")
        pdf.ln(2)
    for picture in document.pictures:
        pdf.image(io.BytesIO(picture), w=150)
    return bytes(pdf.output())


def _latin(text: str) -> str:
    """Text in the characters of the fonts that every PDF has."""
    return text.replace("€", "EUR ").encode("latin-1", "replace").decode("latin-1")


_WRITERS: Mapping[str, Callable[[Document], bytes]] = {
    "txt": _text,
    "md": _markdown,
    "csv": _csv,
    "eml": _mail,
    "xlsx": _workbook,
    "docx": _word,
    "pdf": _pdf,
}
