"""Plain text of any kind (txt, md, json, program code, logs), and the decoding that text formats share."""

from __future__ import annotations

import codecs
import re

from forethought.tools.documents.document import FORMATS, Document, Section, Unreadable

NOT_UTF8 = "The file is not UTF-8; it was read as Windows-1252, so that letters with accents may be wrong."
BROKEN_UTF8 = "The file is UTF-8 with bytes that are not; \ufffd stands for them."
# UTF-32 first: its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_CONTROL = 0.01


def read_text(data: bytes) -> Document:
    """Text as it stands."""
    text, note = decode(data)
    return Document((Section(text.strip("\n")),), note=note)


def decode(data: bytes) -> tuple[str, str]:
    """The text of the bytes and a note on a guess that was made. Raises Unreadable for what is not text."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    note = ""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text, note = _guessed(data)
    control = len(_CONTROL.findall(text)) + text.count("\ufffd")
    if "\0" in text or control > _MOST_CONTROL * len(text):
        raise Unreadable(
            f"is not a text and not a document of a supported format ({FORMATS})",
            hint="Ask the user for the document in one of these formats.",
        )
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n")), note


def _guessed(data: bytes) -> tuple[str, str]:
    """UTF-8 with a broken place here and there, else Windows-1252; with a note that says so."""
    text = data.decode("utf-8", errors="replace")
    if text.count("\ufffd") * 10 < sum(character > "\x7f" for character in text):
        return text, BROKEN_UTF8
    return data.decode("cp1252", errors="replace"), NOT_UTF8
