"""Formats that only unstructured reads: what LibreOffice converts for it."""

from __future__ import annotations

from pathlib import Path

import docx
import pytest
from docx.oxml.ns import qn
from PIL import Image

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
