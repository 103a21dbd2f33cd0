"""Formats that only unstructured reads: Outlook's messages, and what LibreOffice converts for it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from forethought.tools.documents.formats import read_document

FOLDER = Path(__file__).parent / "made_elsewhere"
END, FREE, NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFF


def compound(streams: dict[str, bytes]) -> bytes:
    """A compound file (MS-CFB) of streams of at least 4096 bytes, which are padded with spaces."""
    sectors: list[bytes] = []
    table: list[int] = []

    def add(data: bytes) -> int:
        first, count = len(sectors), -(-len(data) // 512)
        sectors.extend(data[at : at + 512].ljust(512, b"\0") for at in range(0, len(data), 512))
        table.extend([*range(first + 1, first + count), END])
        return first

    places = [(name, add(data), len(data)) for name, data in streams.items()]
    entries = [("Root Entry", 5, NONE, 1, END, 0)]
    for at, (name, first, size) in enumerate(places, 1):
        entries.append((name, 2, at + 1 if at < len(places) else NONE, NONE, first, size))
    folder = b"".join(
        struct.pack(
            "<64sHBBIII16sIQQIQ", name.encode("utf-16-le"), 2 * len(name) + 2, kind, 1, NONE, right, child,
            b"", 0, 0, 0, first, size,
        )
        for name, kind, right, child, first, size in entries
    )  # fmt: skip
    directory = add(folder)
    at = len(sectors)
    fat = [*table, 0xFFFFFFFD]
    sectors.append(struct.pack("<128I", *fat, *[FREE] * (128 - len(fat))))
    head = struct.pack(
        "<8s16sHHHHH6xIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 62, 3, 0xFFFE, 9, 6, 0, 1,
        directory, 0, 4096, END, 0, END, 0,
    )  # fmt: skip
    return head + struct.pack("<109I", at, *[FREE] * 108) + b"".join(sectors)


def message(**texts: str) -> bytes:
    """An Outlook message with these properties (MS-OXPROPS): their tags and values."""
    entries = b"".join(struct.pack("<IIQ", int(tag[1:] + "001F", 16), 6, 4096) for tag in texts)
    names = {
        f"__substg1.0_{tag[1:]}001F": text.ljust(2048).encode("utf-16-le") for tag, text in texts.items()
    }
    return compound({**names, "__properties_version1.0": (bytes(32) + entries).ljust(4096, b"\0")})


def test_a_message_of_outlook_has_its_head_and_its_text() -> None:
    headers = "From: Ann <ann@example.org>\r\nCc: bob@example.org\r\n"
    data = message(_0037="Prices", _1000="Tea is up.\n\nCoffee is not.", _007D=headers)
    assert read_document(data, "a.msg").text == (
        "From: Ann <ann@example.org>\nCc: bob@example.org\nSubject: Prices\n\nTea is up.\n\nCoffee is not."
    )


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
