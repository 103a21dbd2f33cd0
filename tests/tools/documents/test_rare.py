"""Formats that LibreOffice converts, and kinds that nothing reads."""

from __future__ import annotations

import io
from pathlib import Path

import docx
import pytest
from docx.oxml.ns import qn
from PIL import Image

from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document
from tests.support.web_server import Sent, StartServer

FOLDER = Path(__file__).parent / "made_elsewhere"


def with_soffice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, converted: Path) -> None:
    """A LibreOffice that turns every .doc into `converted`."""
    office = tmp_path / "soffice"
    office.write_text(
        "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ $1 = --outdir ] && out=$2; shift; done\n"
        f"cp {converted} $out/$(basename $1 .doc).docx\n"
    )
    office.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")


def test_an_old_document_is_converted_where_libreoffice_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_soffice(tmp_path, monkeypatch, FOLDER / "letter.docx")
    text = read_document((FOLDER / "letter.doc").read_bytes(), "letter.doc").text
    assert text.startswith("# Rules of travel\n\nLodging is paid up to EUR 80 a night")
    assert "| Österreich | 28 | 14 |" in text


def test_no_address_in_an_old_document_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, web_server: StartServer
) -> None:
    web = web_server(lambda asked: Sent("secret"))
    document = docx.Document()
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    document.add_paragraph(f"See {web.url}/text")
    drawing = document.add_paragraph("A picture").add_run()
    Image.new("RGB", (4, 4)).save(tmp_path / "picture.png", "PNG")
    drawing.add_picture(str(tmp_path / "picture.png"))
    for name in ("image", "hyperlink", "attachedTemplate"):
        linked = document.part.relate_to(f"{web.url}/{name}", f"{relation}/{name}", is_external=True)
        if name == "image":
            (blip,) = drawing._r.xpath(".//a:blip")
            del blip.attrib[qn("r:embed")]
            blip.set(qn("r:link"), linked)
    document.save(str(tmp_path / "linked.docx"))
    with_soffice(tmp_path, monkeypatch, tmp_path / "linked.docx")
    text = read_document((FOLDER / "letter.doc").read_bytes(), "letter.doc").text
    assert f"See {web.url}/text" in text
    assert web.asked == []


@pytest.mark.parametrize(
    ("name", "data", "instead"),
    [
        ("budget.numbers", b"PK\x05\x06" + b"\0" * 18, ".xlsx"),
        ("plan.vsd", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "PDF"),
        ("members.accdb", b"\0\1\0\0Standard ACE DB", ".xlsx"),
        ("notes.gdoc", b'{"url": "https://example.org"}', ".docx"),
        ("photo.heic", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "JPG"),
    ],
)
def test_a_kind_that_nothing_reads_is_named_with_what_to_ask_for(
    name: str, data: bytes, instead: str
) -> None:
    with pytest.raises(Unreadable) as raised:
        read_document(data, name)
    assert name.partition(".")[2] in raised.value.what
    assert instead in raised.value.hint


def test_a_picture_of_several_pages_says_how_many() -> None:
    pages = [Image.new("1", (8, 8), number) for number in (0, 1, 1)]
    file = io.BytesIO()
    pages[0].save(file, "TIFF", save_all=True, append_images=pages[1:])
    with pytest.raises(Unreadable, match="3 pages"):
        read_document(file.getvalue(), "fax.tif")
