"""Files in files: names, levels, limits, and what cannot be taken out."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from email.message import EmailMessage

import docx
import pytest
from fpdf import FPDF
from openpyxl import Workbook

from forethought.settings import Settings
from forethought.tools.documents import archive, members
from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document
from forethought.tools.documents.members import read_members
from forethought.tools.documents.reader import members_apart
from tests.tools.documents.bombs import zipped


def mail(name: str, data: bytes) -> bytes:
    made = EmailMessage()
    made["Subject"] = "Re: Offer 1/2"
    made.set_content("See below.")
    made.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return made.as_bytes()


def tar(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as made:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        made.addfile(link)
    return packed.getvalue()


def names(data: bytes, name: str) -> list[str]:
    return [member.name for member in read_members(data, name)]


def test_files_are_taken_out_through_three_levels() -> None:
    deep = zipped({"c.zip": zipped({"too deep.txt": "x"}), "b.txt": "450"})
    data = mail("a.zip", zipped({"2025/inner.eml": mail("deep.zip", deep)}))
    found = {member.name: member.data for member in read_members(data, "old/mail.eml")}
    assert list(found) == [
        "old/mail.eml/a.zip",
        "old/mail.eml/a.zip/2025/inner.eml",
        "old/mail.eml/a.zip/2025/inner.eml/deep.zip",
    ]
    assert found["old/mail.eml/a.zip/2025/inner.eml/deep.zip"] == deep


def test_an_attached_message_is_a_file_named_after_its_subject() -> None:
    outer, inner = EmailMessage(), EmailMessage()
    inner["Subject"] = "Re: Offer 1/2"
    inner.set_content("450 EUR")
    outer.set_content("See below.")
    outer.add_attachment(inner)
    (member,) = read_members(outer.as_bytes(), "a.eml")
    assert member.name == "a.eml/Re_Offer 1_2.eml"
    assert "450 EUR" in read_document(member.data, member.name).text


@pytest.mark.parametrize(
    ("data", "name", "found"),
    [
        (gzip.compress(tar(a=b"x"), mtime=0), "a.tar.gz", "a.tar.gz/a"),
        (lzma.compress(tar(a=b"x")), "a.txz", "a.txz/a"),
        (gzip.compress(b"x", mtime=0), "prices.csv.gz", "prices.csv.gz/prices.csv"),
        (bz2.compress(b"x"), "prices.csv.bz2", "prices.csv.bz2/prices.csv"),
    ],
)
def test_packed_files_are_unpacked(data: bytes, name: str, found: str) -> None:
    assert [(member.name, member.data) for member in read_members(data, name)] == [(found, b"x")]
    assert found in read_document(data, name).text


def test_embedded_workbooks_and_attachments_of_pdfs_are_files() -> None:
    book, file = Workbook(), io.BytesIO()
    book.save(file)
    document, saved = docx.Document(), io.BytesIO()
    document.add_paragraph("See the table.")
    document.save(saved)
    with archive.zipfile.ZipFile(saved, "a") as made:
        made.writestr("word/embeddings/Table.xlsx", file.getvalue())
        made.writestr("word/charts/_rels/c.xml.rels", "../embeddings/Chart.xlsx")
        made.writestr("word/embeddings/Chart.xlsx", file.getvalue())
    assert names(saved.getvalue(), "a.docx") == ["a.docx/Table.xlsx"]
    assert read_document(saved.getvalue(), "a.docx").text.startswith(
        "See the table.\n\nFiles in it:\n- a.docx/"
    )
    pdf = FPDF()
    pdf.add_page()
    pdf.embed_file(bytes=b"<xml/>", basename="factur-x.xml")
    assert names(bytes(pdf.output()), "bill.pdf") == ["bill.pdf/factur-x.xml"]


def test_names_are_safe_short_and_used_once() -> None:
    data = zipped(
        {"../a.txt": "x", "/a.txt": "y", "A.TXT": "z", "b/" * 30 + "c.txt": "x", "d" * 900 + ".csv": ""}
    )
    found = names(data, "a.zip")
    assert found[:3] == ["a.zip/a.txt", "a.zip/a (2).txt", "a.zip/A (3).TXT"]
    assert found[3].count("/") < members.DEEPEST
    assert len(found[4]) == members.LONGEST + len("a.zip/")
    assert found[4].endswith(".csv")


def test_what_is_too_large_or_too_much_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LARGEST", 1000)
    monkeypatch.setattr(members, "MOST_UNPACKED", 1500)
    monkeypatch.setattr(members, "MOST", 4)
    data = zipped({"a": "x" * 1001, "b": "x" * 900, "c": "x" * 900, "d": "x" * 600, "e": "", "f": ""})
    found = read_members(data, "a.zip")
    assert [(member.name, bool(member.data)) for member in found] == [
        ("a.zip/a", False), ("a.zip/b", True), ("a.zip/c", False), ("a.zip/d", True), ("a.zip/...", False),
    ]  # fmt: skip
    assert "MB" in found[0].reason
    assert "together" in found[2].reason
    assert found[4].reason.startswith("2 more files")


def test_a_process_of_its_own_gives_the_members_and_their_bytes() -> None:
    data = zipped({"a.bin": bytes(range(256)) * 100, "b.txt": "ä"})
    assert members_apart(data, "a.zip", Settings()) == read_members(data, "a.zip")
    assert members_apart(b"plain", "a.txt", Settings()) == []
    with pytest.raises(Unreadable, match="damaged"):
        members_apart(data[:50], "a.zip", Settings())
