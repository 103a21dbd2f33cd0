"""A file's content for a program: text formats as they stand, and every table as rows."""

from __future__ import annotations

from functools import partial

from forethought.tools.documents.document import Content
from forethought.tools.documents.formats import guarded, kind_of, read_document
from forethought.tools.documents.plain import decode, delimited_numbers
from forethought.tools.documents.tables import markdown_rows
from forethought.tools.documents.workbooks import READERS as WORKBOOKS
from forethought.tools.documents.workbooks import workbook_content

_AS_IT_STANDS = ("text", "html", "csv")


def read_content(data: bytes, name: str) -> Content:
    """The content of a file called `name`, read in this process. Raises Unreadable."""
    kind = kind_of(data, name)
    if kind in WORKBOOKS:
        return guarded(partial(workbook_content, kind), data, name)
    markdown = read_document(data, name).text
    text = decode(data)[0] if kind in _AS_IT_STANDS else markdown
    if kind == "csv":
        return Content(text, delimited_numbers(text))
    return Content(text, {str(n): rows for n, rows in enumerate(markdown_rows(markdown), 1)})
