"""Saved e-mail messages (.eml): the headers that matter, the text, and a list of what is attached."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage

from tools.documents.archive import shown_name
from tools.documents.document import Document, Section
from tools.documents.html import html_markdown

_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def read_eml(data: bytes) -> Document:
    """A message; its plain text if there is one, else its HTML. Attachments are listed, not read."""
    message = message_from_bytes(data, policy=policy.default)
    pieces = ["\n".join(f"{header}: {message[header]}" for header in _HEADERS if message[header])]
    body = message.get_body(("plain", "html"))
    if body is not None:
        text = str(body.get_content())
        text = html_markdown(text) if body.get_content_subtype() == "html" else text
        pieces.append(text.replace("\r\n", "\n").strip())
    attached = [_attachment(part) for part in message.iter_attachments()]
    if attached:
        pieces.append("\n".join(["Attached, not shown:", *attached]))
    return Document((Section("\n\n".join(filter(None, pieces))),))


def _attachment(part: EmailMessage) -> str:
    """Its name, type and size; a message that is attached whole is named by its subject."""
    kind = part.get_content_type()
    if kind == "message/rfc822":
        return f"- message: {' '.join(str(part.get_content()['Subject'] or '(no subject)').split())}"
    data = part.get_payload(decode=True)
    size = f", {len(data)} bytes" if isinstance(data, bytes) else ""
    return f"- {shown_name(part.get_filename() or '(no name)')} ({kind}{size})"
