"""What a file is: by its first bytes where they tell, else by its name."""

from __future__ import annotations

import io
import zipfile
from pathlib import PurePosixPath

from tools.documents.document import FORMATS, Unreadable

LARGEST_UNPACKED = 400_000_000
"""Bytes: an Office file is a zip archive, and a small one may unpack to more than the memory holds."""

BY_NAME = {
    "htm": "html", "xhtml": "html", "html": "html", "csv": "csv", "tsv": "csv", "tab": "csv", "eml": "eml",
    "docx": "docx", "docm": "docx", "xlsx": "xlsx", "xlsm": "xlsx", "xls": "xls", "pptx": "pptx",
    "pptm": "pptx", "pdf": "pdf", "doc": "doc", "ppt": "ppt",
}  # fmt: skip
BINARY = ("docx", "xlsx", "xls", "pptx", "pdf", "doc", "ppt")
SAVE_AS = {"doc": ".docx", "ppt": ".pptx"}

_ZIP_MEMBERS = {
    "word/document.xml": "docx", "xl/workbook.xml": "xlsx", "ppt/presentation.xml": "pptx",
    "xl/workbook.bin": "xlsb",
}  # fmt: skip
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_STREAMS = {"WordDocument": "doc", "PowerPoint Document": "ppt", "Workbook": "xls", "Book": "xls"}


def named_kind(name: str) -> str:
    """The kind that the name promises; 'text' for every name that promises none of the others."""
    return BY_NAME.get(PurePosixPath(name).suffix.lower().lstrip("."), "text")


def kind_of(data: bytes, name: str) -> str:
    """The kind of the content: a key of the readers. Raises Unreadable for what no reader reads."""
    if not data:
        raise Unreadable("is empty (0 bytes)", cause="empty", hint="Ask the user for the file again.")
    if data.startswith(_OLE):
        return _ole_kind(data, named_kind(name))
    if data.startswith(b"PK\x03\x04"):
        return _zip_kind(data)
    if b"%PDF-" in data[:1024]:
        return "pdf"
    promised = named_kind(name)
    if promised not in BINARY:
        return promised
    start = data[:1000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return "html" if start.startswith((b"<html", b"<!doctype html")) else "text"


def _ole_kind(data: bytes, promised: str) -> str:
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise Unreadable(
            "is protected with a password and cannot be opened",
            hint="Ask the user for a copy without the password.",
        )
    found = next((k for stream, k in _OLE_STREAMS.items() if stream.encode("utf-16-le") in data), promised)
    if found in SAVE_AS:
        raise Unreadable(
            f"is in an old Office format (.{found}) that cannot be read",
            hint=f"Ask the user to save it as {SAVE_AS[found]} or PDF.",
        )
    if found != "xls":
        raise Unreadable(
            "is in an old Office format that cannot be read", hint="Ask the user to save it as PDF."
        )
    return found


def _zip_kind(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise Unreadable(
            f"is damaged: its archive cannot be opened ({error})", hint="Ask the user for the file again."
        ) from error
    if sum(member.file_size for member in members) > LARGEST_UNPACKED:
        raise Unreadable(
            f"unpacks to more than {LARGEST_UNPACKED // 1_000_000} MB, which is too large",
            cause="limit",
            hint="Ask the user for the part that matters, as a file of its own.",
        )
    found = next((_ZIP_MEMBERS[m.filename] for m in members if m.filename in _ZIP_MEMBERS), "zip")
    if found == "xlsb":
        raise Unreadable(
            "is a binary workbook (.xlsb) that cannot be read", hint="Ask the user to save it as .xlsx."
        )
    if found == "zip":
        raise Unreadable(
            f"is an archive or of an unsupported format (supported: {FORMATS})",
            hint="Ask the user for the files in it one by one, or for the document as PDF.",
        )
    return found
