from __future__ import annotations

from email.message import EmailMessage

import pytest

from forethought.tools.documents.formats import read_document
from forethought.tools.documents.mail import read_eml

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
