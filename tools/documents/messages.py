"""Messages: saved ones (.eml), Outlook's (.msg) and mailboxes (.mbox).

A message is its head and its text. Its attachments become files of their own (`tools.documents.members`).
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from functools import lru_cache, partial
from pathlib import PurePosixPath
from typing import Any

from forethought.tools.documents.archive import Entry
from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.pages import html_markdown
from forethought.tools.documents.plain import decode
from forethought.tools.documents.rtf import read_rtf

_DECODED = policy.default.header_fetch_parse
_HEADERS = ("From", "Sender", "Reply-To", "To", "Cc", "Bcc", "Date", "Subject", "Importance")
BETWEEN = re.compile(rb"(?:\A|\r?\n\r?\n)From [^\r\n]*\d{4}[^\r\n]*\r?\n")
"""The line between two messages of a mailbox."""
_RTF, _SHORT_NAME, _MESSAGE = 0x1009, 0x3704, "__substg1.0_3701000D"
"""Properties that the library does not offer, and the storage of an attached message."""
_NO_WORD = re.compile(r"<[^>\s]*>|\[cid:[^\]]*\]|https?://\S+|[^\w\s]+")
_TABLE = re.compile(r"\| *[^|\s-][^|\n]*\| *[^|\s-][^|\n]*\|")
"""A row of two texts: other tables are there for the layout."""
_EMPTY_LINES = re.compile(r"(?:[ \t\xa0]*\r?\n){3,}")


def read_eml(data: bytes) -> Document:
    """A message. Of a text and an HTML version, the one that says more is shown, or both if they differ."""
    return Document((Section(_letter(_parsed(data))),))


def eml_entries(data: bytes) -> Iterator[Entry]:
    """The attachments of a message, with the pictures in its text."""
    yield from _attached(_parsed(data))


@lru_cache(maxsize=1)
def _parsed(data: bytes) -> EmailMessage:
    """The message. Its text and its attachments are read one after the other."""
    return message_from_bytes(data, policy=policy.default)


def read_mbox(data: bytes) -> Document:
    """A section per message of a mailbox."""
    messages = list(_messages(data))
    sections = (
        Section(_letter(message), str(number), f"## Message {number} of {len(messages)}")
        for number, message in enumerate(messages, 1)
    )
    return Document(tuple(sections), unit="message")


def mbox_entries(data: bytes) -> Iterator[Entry]:
    """The attachments of the messages of a mailbox."""
    for number, message in enumerate(_messages(data), 1):
        for entry in _attached(message):
            yield replace(entry, name=f"message {number}/{entry.name}")


def read_msg(data: bytes) -> Document:
    """A message of Outlook."""
    return Document((Section(_letter(_from_outlook(data))),))


def msg_entries(data: bytes) -> Iterator[Entry]:
    """The attachments of a message of Outlook."""
    return _attached(_from_outlook(data))


def _letter(message: EmailMessage) -> str:
    values = ((name, " ".join(str(message[name] or "").replace("\0", " ").split())) for name in _HEADERS)
    lines = "\n".join(f"{name}: {value}" for name, value in values if value)
    return "\n\n".join(filter(None, (lines, _EMPTY_LINES.sub("\n\n", _body(message)))))


def _body(part: EmailMessage) -> str:
    """The text of a message's part: of alternatives the better one, of other parts all in their order."""
    kind = part.get_content_type()
    if part.is_multipart() and kind != "message/rfc822":
        inner: list[Any] = list(part.iter_parts())
        if kind == "multipart/alternative":
            texts = {child.get_content_type() == "text/plain": _body(child) for child in inner}
            return _better(texts.get(True, ""), texts.get(False, ""))
        return "\n\n".join(filter(None, map(_body, inner)))
    if not _is_text(part):
        return ""
    text = decode(bytes(part.get_payload(decode=True) or b""), part.get_content_charset())[0].strip()
    return html_markdown(text) if kind == "text/html" else text


def _is_text(part: EmailMessage) -> bool:
    shown = part.get_content_disposition() != "attachment" and not part.get_filename()
    return shown and part.get_content_type() in ("text/plain", "text/html", "text/enriched")


def _better(plain: str, html: str) -> str:
    """The version that says more: a text version may be a placeholder, and has no tables."""
    said, shown = (set(_NO_WORD.sub(" ", text).lower().split()) for text in (plain, html))
    if not shown or (len(shown - said) * 10 <= len(shown) and not _TABLE.search(html)):
        return plain or html
    if len(said - shown) * 5 <= len(said) and not any(map(str.isdigit, "".join(said - shown))):
        return html
    return f"{html}\n\nThe message also has a version as plain text, which differs:\n\n{plain}"


def _attached(part: EmailMessage) -> Iterator[Entry]:
    """All parts of a message that are not its text."""
    kind, name = part.get_content_type(), part.get_filename()
    if kind == "message/rfc822":
        inner: Any = part.get_payload(0)
        name = name if name and name.lower().endswith(".eml") else _titled(name or inner["Subject"])
        yield Entry(name, inner.as_bytes, about="a message")
    elif part.is_multipart():
        for child in part.iter_parts():
            yield from _attached(child)  # type: ignore[arg-type]
    elif not _is_text(part):
        payload = part.get_payload(decode=True)
        data = payload if isinstance(payload, bytes) else b""
        yield Entry(_file_name(name, kind), partial(bytes, data), len(data), kind)


def _file_name(name: str | None, media_type: str) -> str:
    """The name without the folders of a path, and with the ending that the tools go by."""
    name = re.split(r"[/\\]", name or media_type.partition("/")[0])[-1]
    return name if PurePosixPath(name).suffix else name + (mimetypes.guess_extension(media_type) or "")


def _titled(subject: str | None) -> str:
    """A name for a message."""
    return f"{re.sub(r'[/:]+ *', '_', subject or 'message')}.eml"


def _messages(data: bytes) -> Iterator[EmailMessage]:
    for message in BETWEEN.split(data)[1:]:
        yield message_from_bytes(re.sub(rb"(?m)^>(>*From )", rb"\1", message), policy=policy.default)


def _from_outlook(data: bytes) -> EmailMessage:
    from oxmsg import Message

    return _converted(Message.load(data))


def _converted(message: Any) -> EmailMessage:
    """A message of Outlook. A draft has no header "To"; its list of recipients gives it."""
    head = {
        "From": message.sender,
        "To": ", ".join(each.name or each.email_address for each in message.recipients),
        "Date": message.sent_date,
        **{name.title(): _DECODED(name, value) for name, value in message.message_headers.items()},
        "Subject": message.subject,
    }
    letter = EmailMessage()
    for name in _HEADERS:
        if value := " ".join(str(head.get(name) or "").replace("\0", " ").split()):
            letter[name] = value
    plain, html = (message.body or "").strip("\0").strip(), message.html_body or ""
    letter.set_content(plain or ("" if html else _rtf_text(message.properties.binary_prop_value(_RTF))))
    if html:
        letter.add_alternative(html, subtype="html")
    for part in message.attachments:
        inner = next((each for each in part._storage.storages if each.name == _MESSAGE), None)
        name = part.file_name or part.properties.str_prop_value(_SHORT_NAME)
        if inner is not None:
            letter.add_attachment(_converted(_inner_message(inner)))
        else:
            main, _, sub = (part.mime_type or "").partition("/")
            kind = (main, sub) if sub and main != "multipart" else ("application", "octet-stream")
            name = "signed message.eml" if main == "multipart" else name
            letter.add_attachment(part.file_bytes or b"", maintype=kind[0], subtype=kind[1], filename=name)
    return letter


def _inner_message(storage: Any) -> Any:
    """A message in a message, whose properties have a head that is eight bytes shorter."""
    from oxmsg import Message

    streams = (
        replace(stream, bytes_=stream.bytes_[:24] + bytes(8) + stream.bytes_[24:])
        if stream.name == "__properties_version1.0"
        else stream
        for stream in storage.streams
    )
    return Message(replace(storage, streams=tuple(streams)))


def _rtf_text(packed: bytes | None) -> str:
    """The text of a message that has it as packed RTF only."""
    if not packed:
        return ""
    from compressed_rtf import decompress  # type: ignore[import-untyped]

    return read_rtf(decompress(packed).strip(b"\0")).text
