"""Saved e-mail messages (.eml): the headers that matter, the text, and the names of what is attached."""

from __future__ import annotations

from email import message_from_bytes, policy

from tools.documents.document import Document, Section
from tools.documents.html import html_markdown

_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def read_eml(data: bytes) -> Document:
    """A message; its plain text if there is one, else its HTML. Attachments are named, not read."""
    message = message_from_bytes(data, policy=policy.default)
    pieces = ["\n".join(f"{header}: {message[header]}" for header in _HEADERS if message[header])]
    body = message.get_body(("plain", "html"))
    if body is not None:
        text = str(body.get_content())
        text = html_markdown(text) if body.get_content_subtype() == "html" else text
        pieces.append(text.replace("\r\n", "\n").strip())
    attached = [part.get_filename() or "(no name)" for part in message.iter_attachments()]
    if attached:
        pieces.append("Attached, not shown: " + ", ".join(attached))
    return Document((Section("\n\n".join(filter(None, pieces))),))
