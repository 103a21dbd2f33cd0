from __future__ import annotations

from email.message import EmailMessage

from forethought.tools.documents.mail import read_eml
from forethought.tools.documents.read import read_document


def test_a_message_gives_headers_text_and_the_names_of_what_is_attached() -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ana@example.org", "ben@example.org", "Prüfung"
    message.set_content("Please pay EUR 12.\n")
    message.add_alternative("<p>Please pay <b>EUR 12</b>.</p>", subtype="html")
    message.add_attachment(b"x", maintype="application", subtype="pdf", filename="bill.pdf")
    assert read_document(message.as_bytes(), "a.eml").text == (
        "From: ana@example.org\nTo: ben@example.org\nSubject: Prüfung\n\nPlease pay EUR 12.\n\n"
        "Attached, not shown:\n- bill.pdf (application/pdf, 1 bytes)"
    )


def test_a_message_in_html_only_is_converted() -> None:
    message = EmailMessage()
    message["Subject"] = "Hi"
    message.set_content("<h1>Hello</h1><script>x()</script>", subtype="html")
    assert read_document(message.as_bytes(), "a.eml").text == "Subject: Hi\n\n# Hello"


def test_a_character_set_that_does_not_exist_does_no_harm() -> None:
    message = b"From: a\nContent-Type: text/plain; charset=none-such\n\nGr\xc3\xbc\xc3\x9fe"
    assert read_eml(message).text == "From: a\n\nGrüße"


def test_an_empty_plain_text_gives_way_to_the_html() -> None:
    message = (
        b"From: a\nContent-Type: multipart/alternative; boundary=x\n\n"
        b"--x\nContent-Type: text/plain\n\n\n--x\nContent-Type: text/html\n\n<p>real text</p>\n--x--"
    )
    assert read_eml(message).text == "From: a\n\nreal text"


def test_a_message_that_is_one_attachment_names_it() -> None:
    message = b"From: a\nContent-Disposition: attachment; filename=x.pdf\n\nabc"
    assert read_eml(message).text.startswith("From: a\n\nAttached, not shown:\n- x.pdf (")


def test_attachments_are_listed_with_types_and_sizes_under_harmless_names() -> None:
    message, inner = EmailMessage(), EmailMessage()
    message["Subject"] = "Three"
    message.set_content("See below.")
    message.add_attachment(b"x" * 2000, maintype="image", subtype="png", filename="../../a\u202e\nb.png")
    message.add_attachment("a,b", subtype="csv")
    inner["Subject"] = "Forwarded"
    inner.set_content("inner text")
    message.add_attachment(inner)
    text = read_document(message.as_bytes(), "a.eml").text
    assert "See below.\n\nAttached, not shown:\n- ../../a" in text
    assert "b.png (image/png, 2000 bytes)\n- (no name) (text/csv, 4 bytes)\n- message: Forwarded" in text
    assert "\u202e" not in text
    assert "inner text" not in text
