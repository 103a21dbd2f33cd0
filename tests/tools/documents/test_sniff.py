from __future__ import annotations

import io
import zipfile

import pytest

from tools.documents import sniff
from tools.documents.document import Unreadable

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504


def archive(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name in names:
            made.writestr(name, "x" * 5000)
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
    ],
)
def test_the_first_bytes_count_more_than_the_name(data: bytes, name: str, kind: str) -> None:
    assert sniff.kind_of(data, name) == kind


@pytest.mark.parametrize(
    ("data", "name", "says"),
    [
        (b"", "a.txt", "is empty"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "a.xlsx", "protected with a password"),
        (OLE + "WordDocument".encode("utf-16-le"), "a.doc", r"old Office format \(\.doc\)"),
        (OLE + "PowerPoint Document".encode("utf-16-le"), "a.ppt", r"old Office format \(\.ppt\)"),
        (OLE, "a.msg", "old Office format"),
        (archive("a.csv"), "a.zip", "is an archive"),
        (archive("xl/workbook.bin"), "a.xlsb", r"\.xlsb"),
        (b"PK\x03\x04....", "a.docx", "damaged"),
    ],
)
def test_what_cannot_be_read_says_why_and_what_to_do(data: bytes, name: str, says: str) -> None:
    with pytest.raises(Unreadable, match=says) as raised:
        sniff.kind_of(data, name)
    assert raised.value.hint


def test_an_old_word_document_is_to_be_saved_anew() -> None:
    with pytest.raises(Unreadable) as raised:
        sniff.kind_of(OLE + "WordDocument".encode("utf-16-le"), "a.doc")
    assert ".docx" in raised.value.hint


def test_a_small_archive_that_unpacks_to_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sniff, "LARGEST_UNPACKED", 9_999)
    with pytest.raises(Unreadable, match="too large") as raised:
        sniff.kind_of(archive("word/document.xml", "word/media.bin"), "a.docx")
    assert raised.value.cause == "limit"
