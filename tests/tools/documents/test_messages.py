"""Saved messages: head, text and the names of what is attached."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Mapping
from email.message import EmailMessage
from pathlib import Path
from types import MappingProxyType

import pytest
from compressed_rtf import compress  # type: ignore[import-untyped]

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
    assert text == (
        "From: ana@example.org\nTo: ben@example.org\nSubject: Prüfung\n\nPlease pay EUR 12.\n\n"
        "Files in it:\n- a.eml/bill .pdf (1 bytes, application/pdf)\n- a.eml/text.csv (4 bytes, text/csv)"
    )


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


def letter(plain: str, html: str) -> bytes:
    made = EmailMessage()
    made.set_content(plain)
    made.add_alternative(html, subtype="html")
    return made.as_bytes()


PRICES = "<table><tr><td>Tea</td><td>3</td></tr><tr><td>Coffee</td><td>4</td></tr></table>"


@pytest.mark.parametrize(
    ("plain", "html", "shown", "not_shown"),
    [
        ("Please open this in a browser.", "<p>The fee is 450 euros from May on.</p>", "450", ""),
        ("The fee is 450", "<p>The <i>fee</i> is <a href='http://x.org'>450</a></p>", "450", "["),
        ("Tea 3 Coffee 4", PRICES, "| Tea | 3 |", "Tea 3"),
        ("Tea 5 Coffee 4", PRICES, "Tea 5", "nothing"),
    ],
    ids=["a placeholder", "the same text", "a table", "a text that differs"],
)
def test_of_two_versions_the_one_that_says_more_is_shown(
    plain: str, html: str, shown: str, not_shown: str
) -> None:
    text = read_eml(letter(plain, html)).text
    assert shown in text
    assert not not_shown or not_shown not in text


def test_all_texts_of_a_message_are_shown_in_their_order() -> None:
    made = (
        b"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\nBefore.\n"
        b"--x\nContent-Type: image/png\n\nx\n--x\nContent-Type: text/plain\n\nAfter.\n--x--"
    )
    assert read_document(made, "a.eml").text == (
        "Before.\n\nAfter.\n\nFiles in it:\n- a.eml/image.png (1 bytes, image/png)"
    )


def test_a_mailbox_has_a_section_a_message() -> None:
    box = b"From a Mon Jan  1 00:00:00 2024\nSubject: one\n\n>From here\n\nFrom b Mon Jan  1 00:00:00 2024\n"
    document = read_document(box + attached("x.txt", "eml"), "all.mbox")
    assert (document.unit, document.sections[0].text) == ("message", "Subject: one\n\nFrom here")
    assert document.sections[1].text.endswith("- all.mbox/message 2/x.txt (4 bytes, text/plain)")


END, FREE, NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFF


def compound(
    streams: dict[str, bytes], storage: Mapping[str, dict[str, bytes]] = MappingProxyType({})
) -> bytes:
    """A compound file (MS-CFB) of streams of at least 4096 bytes, padded with spaces. One storage of
    such streams may follow."""
    sectors: list[bytes] = []
    table: list[int] = []

    def add(data: bytes) -> int:
        first, count = len(sectors), -(-len(data) // 512)
        sectors.extend(data[at : at + 512].ljust(512, b"\0") for at in range(0, len(data), 512))
        table.extend([*range(first + 1, first + count), END])
        return first

    entries = [("Root Entry", 5, NONE, 1, END, 0)]
    for folder, inside in {"": streams, **storage}.items():
        if folder:
            entries.append((folder, 1, NONE, len(entries) + 1, 0, 0))
        for name, data in inside.items():
            entries.append((name, 2, len(entries) + 1, NONE, add(data), len(data)))
        if folder or not storage:
            entries[-1] = (*entries[-1][:2], NONE, *entries[-1][3:])
    listing = b"".join(
        struct.pack(
            "<64sHBBIII16sIQQIQ", name.encode("utf-16-le"), 2 * len(name) + 2, kind, 1, NONE, right, child,
            b"", 0, 0, 0, first, size,
        )
        for name, kind, right, child, first, size in entries
    )  # fmt: skip
    directory = add(listing)
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
    return compound(properties(32, **texts))


def properties(header: int, **texts: str) -> dict[str, bytes]:
    """The streams of a message (`header`: 32 bytes) or an attachment (8) with these properties."""
    entries = b"".join(struct.pack("<IIQ", int(tag[1:] + "001F", 16), 6, 4096) for tag in texts)
    names = {
        f"__substg1.0_{tag[1:]}001F": text.ljust(2048).encode("utf-16-le") for tag, text in texts.items()
    }
    return {**names, "__properties_version1.0": (bytes(header) + entries).ljust(4096, b"\0")}


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


def attached(name: str, kind: str) -> bytes:
    """A message with an attached file of this name, lengthened to the 2048 characters of a stream."""
    if kind == "eml":
        message = EmailMessage()
        message["Subject"] = "Prices"
        message.set_content("Tea is up.")
        message.add_attachment(b"evil", maintype="text", subtype="plain", filename=name)
        return message.as_bytes()
    path = name.rjust(2048, "/") if name.startswith("/") else "./" * ((2048 - len(name)) // 2) + name
    streams = properties(8, _3707=path)
    binary = struct.pack("<IIQ", 0x37010102, 6, 4096)
    streams["__properties_version1.0"] = (streams["__properties_version1.0"][:24] + binary).ljust(4096, b"\0")
    streams["__substg1.0_37010102"] = b"evil".ljust(4096)
    return compound(properties(32, _0037="Prices"), {"__attach_version1.0_#00000000": streams})


@pytest.mark.parametrize("kind", ["eml", "msg"])
@pytest.mark.parametrize("name", ["evil.txt", "../../evil.txt", "{}/evil.txt"])
def test_what_is_attached_is_written_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, name: str
) -> None:
    work, temporary = tmp_path / "one" / "two" / "three", tmp_path / "a" / "b" / "c"
    for folder in (work, temporary):
        folder.mkdir(parents=True)
    monkeypatch.chdir(work)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    before = set(tmp_path.rglob("*"))
    text = read_document(attached(name.format(tmp_path), kind), f"a.{kind}").text
    assert "Files in it:" in text
    assert set(tmp_path.rglob("*")) == before


def test_a_message_of_outlook_may_have_its_text_as_packed_rtf_only() -> None:
    rtf = compress(rb"{\rtf1\ansi The fee is 450 \'80.}".ljust(5000))
    streams = properties(32, _0037="Prices")
    entry = struct.pack("<IIQ", 0x10090102, 6, 5000)
    streams["__properties_version1.0"] = (streams["__properties_version1.0"][:48] + entry).ljust(4096, b"\0")
    streams["__substg1.0_10090102"] = rtf.ljust(4096, b"\0")
    assert read_document(compound(streams), "a.msg").text == "Subject: Prices\n\nThe fee is 450 €."
