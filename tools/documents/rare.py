"""Old formats, which LibreOffice converts if it is installed, and kinds that nothing here reads."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from forethought.tools.documents.document import Document, Unreadable
from forethought.tools.documents.slides import read_pptx
from forethought.tools.documents.word import read_docx

SAVE_AS = {
    "doc": ".docx", "ppt": ".pptx", "odg": "PDF", "pages": ".docx",
    "numbers": ".xlsx", "key": ".pptx", "gdoc": ".docx", "gsheet": ".xlsx", "gslides": ".pptx", "one": "PDF",
    "pub": "PDF", "vsd": "PDF", "vsdx": "PDF", "mpp": "PDF", "xps": "PDF", "oxps": "PDF", "djvu": "PDF",
    "wpd": ".docx", "wps": ".docx", "hwp": ".docx", "hwpx": ".docx", "mobi": ".epub", "azw3": ".epub",
    "webarchive": "PDF",
    "chm": "HTML", "dwg": "PDF", "ai": "PDF", "indd": "PDF", "pst": ".eml", "mdb": ".xlsx", "accdb": ".xlsx",
    "dbf": ".csv", "sav": ".csv", "dta": ".csv", "rds": ".csv", "sas7bdat": ".csv", "mat": ".csv",
    "pbix": ".xlsx", "7z": ".zip", "rar": ".zip", "zst": ".zip", "cab": ".zip", "p7m": ".eml",
}  # fmt: skip
"""The format to ask for if a kind cannot be read."""
KINDS = {"doc": ("docx", read_docx), "ppt": ("pptx", read_pptx)}


def cannot_be_read(kind: str) -> Unreadable:
    """Says what to do about a file of this kind."""
    wanted = SAVE_AS[kind]
    hint = f"Ask the user to save it as {wanted if wanted in ('PDF', '.zip') else f'{wanted} or PDF'}."
    return Unreadable(f"is a .{kind} file, which cannot be read", hint=hint)


def read_rare(kind: str, data: bytes) -> Document:
    """A file of one of the KINDS, converted by `unstructured`. Raises Unreadable."""
    if shutil.which("soffice") is None:
        raise cannot_be_read(kind)
    os.environ.update(SCARF_NO_ANALYTICS="true", UNSTRUCTURED_DISABLE_NOTICE="1")  # read on import
    from unstructured.partition.common.common import convert_office_doc

    target, read = KINDS[kind]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, f"file.{kind}")
        source.write_bytes(data)
        try:
            convert_office_doc(str(source), folder, target)
            return read(source.with_suffix(f".{target}").read_bytes())
        except OSError as error:
            raise cannot_be_read(kind) from error
