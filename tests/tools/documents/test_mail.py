from __future__ import annotations

from email.message import EmailMessage

from tools.documents.load import read_document


def test_a_message_gives_headers_text_and_the_names_of_what_is_attached() -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ana@example.org", "ben@example.org", "Prüfung"
    message.set_content("Please pay EUR 12.\n")
    message.add_alternative("<p>Please pay <b>EUR 12</b>.</p>", subtype="html")
    message.add_attachment(b"x", maintype="application", subtype="pdf", filename="bill.pdf")
    assert read_document(message.as_bytes(), "a.eml").text == (
        "From: ana@example.org\nTo: ben@example.org\nSubject: Prüfung\n\nPlease pay EUR 12.\n\n"
        "Attached, not shown: bill.pdf"
    )


def test_a_message_in_html_only_is_converted() -> None:
    message = EmailMessage()
    message["Subject"] = "Hi"
    message.set_content("<h1>Hello</h1><script>x()</script>", subtype="html")
    assert read_document(message.as_bytes(), "a.eml").text == "Subject: Hi\n\n# Hello"
