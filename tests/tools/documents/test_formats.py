from __future__ import annotations

import io
import zipfile

import pytest

from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import kind_of

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504


def archive(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name in names:
            # A fixed time, so that the names of the tests are the same in every process.
            made.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), "x" * 5000, zipfile.ZIP_DEFLATED)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (archive("word/document.xml"), "a.xlsx", "docx"),
        (archive("xl/workbook.xml"), "a", "xlsx"),
        (archive("ppt/presentation.xml"), "a.txt", "pptx"),
        (b"\n%PDF-1.4", "a.docx", "pdf"),
        (b"<!DOCTYPE HTML><p>", "a.xls", "html"),
        (b"a,b", "a.csv", "csv"),
        (b"a\tb", "a.TSV", "csv"),
        (b"plain", "a.docx", "text"),
        (b"plain", "README", "text"),
        (b"<p>", "a.htm", "html"),
        (OLE + "Workbook".encode("utf-16-le"), "a.doc", "xls"),
        (archive("a.csv"), "a.docx", "zip"),
        (b"PK\x05\x06" + bytes(18), "a.zip", "zip"),
        (b"<a/>", "a.xml", "text"),
    ],
)
def test_the_first_bytes_count_more_than_the_name(data: bytes, name: str, kind: str) -> None:
    assert kind_of(data, name) == kind


@pytest.mark.parametrize(
    ("data", "name", "says"),
    [
        (b"", "a.txt", "is empty"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "a.xlsx", "protected with a password"),
        (OLE + "PowerPoint Document".encode("utf-16-le"), "a.ppt", r"is a \.ppt file"),
        (OLE, "a.msg", r"is a \.msg file"),
        (archive("word/document.xml")[:90], "a.docx", "damaged"),
        (archive("xl/workbook.bin"), "a.xlsb", r"\.xlsb"),
    ],
)
def test_what_cannot_be_read_says_why_and_what_to_do(data: bytes, name: str, says: str) -> None:
    with pytest.raises(Unreadable, match=says) as raised:
        kind_of(data, name)
    assert raised.value.hint
