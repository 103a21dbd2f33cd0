"""Saved e-mail messages (.eml) and Outlook's (.msg): head, text, and what is attached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from forethought.tools.documents.archive import shown_name
from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.pages import html_markdown
from forethought.tools.documents.plain import decode

_DECODED = policy.default.header_fetch_parse
_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def read_eml(data: bytes) -> Document:
    """A message; its plain text if there is one, else its HTML. Attachments are listed, not read."""
    message = message_from_bytes(data, policy=policy.default)
    text = _text(message, "plain") or html_markdown(_text(message, "html"))
    attached = [_attachment(part) for part in message.iter_attachments()] if message.is_multipart() else []
    return _letter({name: message[name] for name in _HEADERS}, text, attached)


def read_msg(data: bytes) -> Document:
    """As `read_eml`; who it is to is that of the list of recipients where it was never on its way."""
    from oxmsg import Message

    message = Message.load(data)
    head = {
        "From": message.sender,
        "To": ", ".join(each.name or each.email_address for each in message.recipients),
        "Date": message.sent_date,
        **{name.title(): _DECODED(name, value) for name, value in message.message_headers.items()},
        "Subject": message.subject,
    }
    text = (message.body or "").strip("\0").strip() or html_markdown(message.html_body or "")
    attached = [_listed(part.file_name, part.mime_type, part.size) for part in message.attachments]
    return _letter(head, text, attached)


def _letter(head: Mapping[str, Any], text: str, attached: Sequence[str]) -> Document:
    values = ((name, " ".join(str(head.get(name) or "").replace("\0", " ").split())) for name in _HEADERS)
    lines = "\n".join(f"{name}: {value}" for name, value in values if value)
    listing = "\n".join(["Attached, not shown:", *attached]) if attached else ""
    return Document((Section("\n\n".join(filter(None, (lines, text, listing)))),))


def _text(message: EmailMessage, kind: str) -> str:
    """The body of this kind; '' if there is none."""
    body = message.get_body((kind,))
    if body is None:
        return ""
    return decode(bytes(body.get_payload(decode=True) or b""), body.get_content_charset())[0].strip()


def _attachment(part: EmailMessage) -> str:
    data = part.get_payload(decode=True)
    size = len(data) if isinstance(data, bytes) else None
    return _listed(part.get_filename(), part.get_content_type(), size)


def _listed(name: str | None, media_type: str | None, size: int | None) -> str:
    """An attachment's name, type and size in bytes."""
    about = ", ".join(filter(None, (media_type, None if size is None else f"{size} bytes")))
    return f"- {shown_name(name or '(no name)')} ({about})"
