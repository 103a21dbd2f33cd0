"""The bytes of a document as its text, by the reader of its kind.

It runs in a process apart (`tools.documents.child`), which starts quickly since no tool is imported here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from forethought.tools.documents.archive import read_zip
from forethought.tools.documents.document import Document, Unreadable
from forethought.tools.documents.epub import read_epub
from forethought.tools.documents.html import read_html
from forethought.tools.documents.mail import read_eml
from forethought.tools.documents.pdf import read_pdf
from forethought.tools.documents.plain import read_delimited, read_text
from forethought.tools.documents.slides import read_pptx
from forethought.tools.documents.sniff import BINARY, kind_of, named_kind
from forethought.tools.documents.word import read_docx
from forethought.tools.documents.workbooks import read_xls, read_xlsx

READERS: dict[str, Callable[[bytes], Document]] = {
    "text": read_text, "html": read_html, "csv": read_delimited, "eml": read_eml, "pdf": read_pdf,
    "docx": read_docx, "pptx": read_pptx, "xlsx": read_xlsx, "xls": read_xls,
    "epub": read_epub, "zip": read_zip, "xml": read_text,
}  # fmt: skip


def read_document(data: bytes, name: str) -> Document:
    """The bytes of a file called `name` as a document, read in this process. Raises Unreadable."""
    kind = kind_of(data, name)
    promised = named_kind(name)
    try:
        document = READERS[kind](data)
    except Unreadable:
        if kind == "text" and promised in BINARY:
            raise _damaged(promised, None) from None
        raise
    except MemoryError:  # says nothing of the file
        raise
    # The readers are other people's parsers: on a damaged file they raise just anything.
    except Exception as error:
        raise _damaged(kind, error) from error
    if not any(section.text.strip() for section in document.sections):
        raise Unreadable("has no text in it", cause="empty", hint="Ask the user for the file again.")
    if kind != promised and promised in BINARY:
        found = {"text": "plain text", "zip": "an archive"}.get(kind, f".{kind}")
        note = f"The file is not .{promised} as its name says but {found}."
        return replace(document, note=f"{note} {document.note}".strip())
    return document


def _damaged(kind: str, error: Exception | None) -> Unreadable:
    reason = f" ({type(error).__name__})" if error else ""
    return Unreadable(
        f"is damaged or not a real .{kind} file{reason}",
        hint="Ask the user for the file again, or as another format.",
    )
