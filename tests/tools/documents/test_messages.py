"""Saved messages: head, text and the names of what is attached."""

from __future__ import annotations

import struct
from email.message import EmailMessage

import pytest

from forethought.tools.documents.formats import kind_of, read_document
from forethought.tools.documents.messages import read_eml

EMPTY_PLAIN_TEXT = (
    b"From: a\nContent-Type: multipart/alternative; boundary=x\n\n"
    b"--x\nContent-Type: text/plain\n\n\n--x\nContent-Type: text/html\n\n<h1>Hi</h1>\n--x--"
)


def test_a_message_gives_headers_text_and_the_names_of_attachments() -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ana@example.org", "ben@example.org", "Prüfung"
    message.set_content("Please pay EUR 12.\n")
    message.add_alternative("<p>Please pay <b>EUR 12</b>.</p>", subtype="html")
    message.add_attachment(b"x", maintype="application", subtype="pdf", filename="bill\u202e\n.pdf")
    message.add_attachment("a,b", subtype="csv")
    text = read_document(message.as_bytes(), "a.eml").text
    assert text.startswith(
        "From: ana@example.org\nTo: ben@example.org\nSubject: Prüfung\n\nPlease pay EUR 12.\n\n"
        "Attached, not shown:\n- bill"
    )
    assert ".pdf (application/pdf, 1 bytes)\n- (no name) (text/csv, 4 bytes)" in text
    assert "\u202e" not in text


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (b"From: a\nContent-Type: text/html\n\n<h1>Hi</h1><script>x()</script>", "From: a\n\n# Hi"),
        (EMPTY_PLAIN_TEXT, "From: a\n\n# Hi"),
        (b"From: a\nContent-Type: text/plain; charset=none-such\n\nGr\xc3\xbc\xc3\x9fe", "From: a\n\nGrüße"),
    ],
    ids=["html only", "empty plain text", "unknown charset"],
)
def test_the_body_is_the_plain_text_or_else_the_html(message: bytes, text: str) -> None:
    assert read_eml(message).text == text


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
    headers = "From: =?UTF-8?B?QW5u?= <ann@example.org>\r\nCc: bob@example.org\r\n"
    data = message(_0037="Prices", _1000="Tea is up.\n\nCoffee is not.", _007D=headers)
    assert read_document(data, "a.msg").text == (
        "From: Ann <ann@example.org>\nCc: bob@example.org\nSubject: Prices\n\nTea is up.\n\nCoffee is not."
    )


def test_a_message_of_outlook_without_text_still_has_its_head() -> None:
    assert read_document(message(_0037="Server is down"), "a.msg").text == "Subject: Server is down"


def test_a_message_stays_one_whatever_is_attached() -> None:
    assert kind_of(message(_0037="Prices") + "Workbook".encode("utf-16-le"), "a.msg") == "msg"
