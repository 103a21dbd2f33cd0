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
    pieces = ["\n".join(f"{header}: {message[header]}" for header in _HEADERS if message[header])]
    pieces.append(next(filter(None, (_text(message, kind) for kind in ("plain", "html"))), ""))
    parts = message.iter_attachments() if message.is_multipart() else [message] * message.is_attachment()
    attached = [_attachment(part) for part in parts]
    if attached:
        pieces.append("\n".join(["Attached, not shown:", *attached]))
    return Document((Section("\n\n".join(filter(None, pieces))),))


def _text(message: EmailMessage, kind: str) -> str:
    """The body of this kind, if there is one that holds anything."""
    body = message.get_body((kind,))
    if body is None:
        return ""
    try:
        text = str(body.get_content())
    except LookupError:  # a character set that does not exist
        text = decode(bytes(body.get_payload(decode=True) or b""))[0]
    text = html_markdown(text) if kind == "html" else text
    return text.replace("\r\n", "\n").strip()


def _attachment(part: EmailMessage) -> str:
    """Its name, type and size; a message that is attached whole is named by its subject."""
    kind = part.get_content_type()
    if kind == "message/rfc822":
        return f"- message: {' '.join(str(part.get_content()['Subject'] or '(no subject)').split())}"
    data = part.get_payload(decode=True)
    size = f", {len(data)} bytes" if isinstance(data, bytes) else ""
    return f"- {shown_name(part.get_filename() or '(no name)')} ({kind}{size})"
