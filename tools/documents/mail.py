"""Saved e-mail messages (.eml): the headers that matter, the text, and a list of what is attached."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage

from forethought.tools.documents.archive import shown_name
from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.html import html_markdown
from forethought.tools.documents.plain import decode

_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def read_eml(data: bytes) -> Document:
    """A message; its plain text if there is one, else its HTML. Attachments are listed, not read."""
    message = message_from_bytes(data, policy=policy.default)
    head = "\n".join(f"{header}: {message[header]}" for header in _HEADERS if message[header])
    text = _text(message, "plain") or html_markdown(_text(message, "html"))
    attached = [_attachment(part) for part in message.iter_attachments()] if message.is_multipart() else []
    listing = "\n".join(["Attached, not shown:", *attached]) if attached else ""
    return Document((Section("\n\n".join(filter(None, (head, text, listing)))),))


def _text(message: EmailMessage, kind: str) -> str:
    """The body of this kind; '' if there is none."""
    body = message.get_body((kind,))
    if body is None:
        return ""
    return decode(bytes(body.get_payload(decode=True) or b""), body.get_content_charset())[0].strip()


def _attachment(part: EmailMessage) -> str:
    """Its name, type and size."""
    data = part.get_payload(decode=True)
    size = f", {len(data)} bytes" if isinstance(data, bytes) else ""
    return f"- {shown_name(part.get_filename() or '(no name)')} ({part.get_content_type()}{size})"
