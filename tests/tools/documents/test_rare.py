"""Formats that only unstructured reads: what LibreOffice converts for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from forethought.tools.documents.formats import read_document

FOLDER = Path(__file__).parent / "made_elsewhere"


def test_an_old_document_is_converted_where_libreoffice_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = tmp_path / "soffice"
    office.write_text(
        "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ $1 = --outdir ] && out=$2; shift; done\n"
        f"cp {FOLDER / 'letter.docx'} $out/$(basename $1 .doc).docx\n"
    )
    office.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    text = read_document((FOLDER / "letter.doc").read_bytes(), "letter.doc").text
    assert text.startswith("# Rules of travel\n\nLodging is paid up to EUR 80 a night")
    assert "| Österreich | 28 | 14 |" in text
