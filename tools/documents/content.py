"""A file's content for a program: text formats as written, and every table as rows."""

from __future__ import annotations

from functools import partial

from forethought.tools.documents.document import Content
from forethought.tools.documents.formats import guarded, kind_of, read_document
from forethought.tools.documents.plain import decode, delimited_numbers
from forethought.tools.documents.tables import markdown_rows
from forethought.tools.documents.workbooks import READERS as WORKBOOKS
from forethought.tools.documents.workbooks import workbook_content

_AS_WRITTEN = ("text", "html")


def read_content(data: bytes, name: str) -> Content:
    """The content of a file called `name`, read in this process. Raises Unreadable."""
    kind = kind_of(data, name)
    if kind in WORKBOOKS:
        return guarded(partial(workbook_content, kind), data, name)
    if kind == "csv":
        return guarded(_read_csv, data, name)
    markdown = read_document(data, name).text
    text = decode(data)[0] if kind in _AS_WRITTEN else markdown
    return Content(text, {str(n): rows for n, rows in enumerate(markdown_rows(markdown), 1)})


def _read_csv(data: bytes) -> Content:
    text = decode(data)[0]
    return Content(text, delimited_numbers(text))
