"""The kind and the text of a file or page. The first bytes decide the kind, else the name or type.

It runs in a process of its own (`tools.documents.child`), which starts quickly: no tool is imported here.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import PurePosixPath
from typing import TypeVar
from urllib.parse import unquote, urlsplit
from zipfile import BadZipFile

from forethought.tools.documents.archive import open_archive, read_archive
from forethought.tools.documents.cards import read_cards
from forethought.tools.documents.data_files import read_notebook
from forethought.tools.documents.document import Document, Unreadable
from forethought.tools.documents.main_part import main_part
from forethought.tools.documents.members import holder_kind, listing, read_members
from forethought.tools.documents.messages import read_eml, read_mbox, read_msg
from forethought.tools.documents.odf import read_odp, read_odt
from forethought.tools.documents.pages import html_markdown, read_epub, read_html, read_mht
from forethought.tools.documents.pdf import read_pdf
from forethought.tools.documents.plain import decode, read_delimited, read_text
from forethought.tools.documents.rare import KINDS as RARE
from forethought.tools.documents.rare import SAVE_AS, cannot_be_read, read_rare
from forethought.tools.documents.rtf import read_rtf
from forethought.tools.documents.slides import read_pptx
from forethought.tools.documents.word import read_docx
from forethought.tools.documents.workbooks import READERS as WORKBOOKS
from forethought.tools.documents.workbooks import read_workbook
from forethought.tools.kinds import OTHER_PICTURES, binary_kind, is_pdf, picture_kind, sound_kind

T = TypeVar("T")
ARCHIVES = ("zip", "tar", "gz", "bz2", "xz")
READERS: dict[str, Callable[[bytes], Document]] = {
    "text": read_text, "html": read_html, "csv": read_delimited, "eml": read_eml, "msg": read_msg,
    "pdf": read_pdf, "docx": read_docx, "pptx": read_pptx,
    **{kind: partial(read_workbook, kind) for kind in WORKBOOKS},
    "epub": read_epub, "odt": read_odt, "odp": read_odp, "rtf": read_rtf,
    "mbox": read_mbox, "cards": read_cards, "ipynb": read_notebook, "mht": read_mht,
    **dict.fromkeys(ARCHIVES, read_archive),
    **{kind: partial(read_rare, kind) for kind in RARE},
}  # fmt: skip
BY_NAME = {
    "htm": "html", "xhtml": "html", "html": "html", "csv": "csv", "tsv": "csv", "tab": "csv", "eml": "eml",
    "docx": "docx", "docm": "docx", "xlsx": "xlsx", "xlsm": "xlsx",
    "xltx": "xlsx", "xls": "xls", "xlsb": "xlsb",
    "pptx": "pptx",
    "pptm": "pptx", "ppsx": "pptx", "ppsm": "pptx", "potx": "pptx",
    "dotx": "docx", "dotm": "docx", "pdf": "pdf", "doc": "doc", "ppt": "ppt", "epub": "epub", "zip": "zip",
    "odt": "odt", "ods": "ods", "odp": "odp", "rtf": "rtf", "msg": "msg",
    "ott": "odt", "otp": "odp", **{kind: kind for kind in SAVE_AS},
    "mbox": "mbox", "tar": "tar", "ics": "cards", "vcf": "cards", "vcard": "cards", "ipynb": "ipynb",
    "mht": "mht", "mhtml": "mht",
}  # fmt: skip
TEXTUAL = ("text", "html", "csv", "eml", "cards", "ipynb", "mht")
"""Kinds whose first bytes tell nothing."""
_ZIP_MEMBERS = {
    "word/document.xml": "docx", "xl/workbook.xml": "xlsx", "ppt/presentation.xml": "pptx",
    "xl/workbook.bin": "xlsb",
}  # fmt: skip
_OPEN_DOCUMENT = {
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/epub+zip": "epub",
}
_LINKS = ("gdoc", "gsheet", "gslides")
"""Files that only hold the address of a document."""
_HEAD = 8192
_STARTS = {
    b"SQLite format 3\0": "sqlite", b"PAR1": "parquet", b"BEGIN:VCALENDAR": "cards", b"BEGIN:VCARD": "cards",
}  # fmt: skip
_LONGEST_TYPE = 100
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_STREAMS = {
    "EncryptedPackage": "locked", "WordDocument": "doc", "PowerPoint Document": "ppt",
    "Workbook": "xls", "Book": "xls", "__substg1.0_": "msg",
}  # fmt: skip


def read_document(data: bytes, name: str) -> Document:
    """The bytes of a file called `name` as a document, read in this process. Raises Unreadable."""
    kind = kind_of(data, name)
    by_name = named_kind(name)
    document = guarded(READERS[kind], data, name)
    if not any(section.text.strip() for section in document.sections):
        raise Unreadable("has no text in it", cause="empty", hint="Ask the user for the file again.")
    document = _with_members(document, data, name)
    if kind != by_name and by_name not in TEXTUAL:
        actual = {"text": "plain text", "zip": "an archive"}.get(kind, f".{kind}")
        note = f"The file is not .{by_name} as its name says but {actual}."
        return replace(document, note=f"{note} {document.note}".strip())
    return document


def _with_members(document: Document, data: bytes, name: str) -> Document:
    """The document with the list of the files in it after its text."""
    if not (files := listing(guarded(partial(read_members, name=name), data, name))):
        return document
    *others, last = document.sections
    return replace(document, sections=(*others, replace(last, text=f"{last.text}\n\n{files}".strip())))


def guarded(read: Callable[[bytes], T], data: bytes, name: str) -> T:
    """What `read` makes of the bytes of a file called `name`. Raises Unreadable."""
    kind, by_name = kind_of(data, name), named_kind(name)
    try:
        return read(data)
    except Unreadable:
        if kind == "text" and by_name not in TEXTUAL:
            raise _damaged(by_name, None) from None
        raise
    except MemoryError:  # says nothing of the file
        raise
    # The readers are other people's parsers: on a damaged file they raise just anything.
    except Exception as error:
        raise _damaged(kind, error) from error


def _damaged(kind: str, error: Exception | None) -> Unreadable:
    reason = f" ({type(error).__name__})" if error else ""
    return Unreadable(
        f"is damaged or not a real .{kind} file{reason}",
        hint="Ask the user for the file again, or as another format.",
    )


def named_kind(name: str) -> str:
    """The kind that the name promises; 'text' for every name that promises none of the others."""
    return BY_NAME.get(PurePosixPath(name).suffix.lower().lstrip("."), "text")


def kind_of(data: bytes, name: str) -> str:
    """The kind of the content: a key of the readers. Raises Unreadable for a kind without a reader."""
    kind = _kind(data, named_kind(name))
    if kind == "locked":
        raise Unreadable(
            "is protected with a password and cannot be opened",
            hint="Ask the user for a copy without the password.",
        )
    if kind not in READERS:
        raise cannot_be_read(kind)
    return kind


@lru_cache(maxsize=1)  # each step of a reading asks
def _kind(data: bytes, by_name: str) -> str:
    if not data:
        raise Unreadable("is empty (0 bytes)", cause="empty", hint="Ask the user for the file again.")
    if data.startswith(_OLE):
        kinds = [kind for stream, kind in _OLE_STREAMS.items() if stream.encode("utf-16-le") in data]
        if by_name in (kinds or ("doc", "ppt", "xls")):  # a message also has the streams of its attachments
            return by_name
        return kinds[0] if kinds else by_name if by_name in SAVE_AS else "msg"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        kind = _zip_kind(data)
        return by_name if kind == "zip" and by_name in SAVE_AS and by_name not in READERS else kind
    if picture := picture_kind(data):
        pages = _frames(data) if picture == "tif" else 1
        what, page = (
            (f"is a picture of {pages} pages", ", page by page") if pages > 1 else ("is a picture", "")
        )
        raise Unreadable(what, hint=f"Use inspect_image for it{page}, if you have it.", cause="arguments")
    if (other := binary_kind(data)) in OTHER_PICTURES.split(", "):
        hint = "Ask the user to save it as JPG, PNG or PDF."
        raise Unreadable(f"is a .{other} picture, which cannot be read", hint=hint, cause="arguments")
    if sound_kind(data):
        raise Unreadable(
            "is a sound recording",
            hint="Use inspect_audio for it, if you have it.",
            cause="arguments",
        )
    if is_pdf(data):
        return "pdf"
    if data.startswith(b"{\\rtf"):
        return "rtf"
    if kind := next((kind for start, kind in _STARTS.items() if data.startswith(start)), ""):
        return kind
    if holds := holder_kind(data, f"{by_name}.{by_name}"):
        return holds
    if by_name in TEXTUAL:
        return by_name
    if by_name in SAVE_AS and (b"\0" in data[:_HEAD] or by_name in _LINKS):
        return by_name
    start = data[:1000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<html", b"<!doctype html")):
        return "html"
    return "csv" if by_name in WORKBOOKS else "text"  # many programs call tables in a text .xls


def _frames(data: bytes) -> int:
    from PIL import Image

    with suppress(Exception):  # inspect_image will say why
        return int(getattr(Image.open(io.BytesIO(data)), "n_frames", 1))
    return 1


def _zip_kind(data: bytes) -> str:
    """The kind of the document in the archive; 'zip' for one that is no document."""
    with open_archive(data) as archive:
        # Word on the web writes word/document2.xml.
        names = {re.sub(r"\d+\.xml$", ".xml", name) for name in archive.namelist()}
        kind = next((kind for name, kind in _ZIP_MEMBERS.items() if name in names), "zip")
        if "mimetype" in names and archive.getinfo("mimetype").file_size <= _LONGEST_TYPE:
            with suppress(RuntimeError, BadZipFile, zlib.error):  # protected, or damaged
                kind = _OPEN_DOCUMENT.get(archive.read("mimetype").decode("ascii", "replace").strip(), kind)
    return kind


_HTML = ("text/html", "application/xhtml+xml")
_MEDIA = ("image/", "audio/", "video/", "font/")
_DOCUMENT = (b"%PDF-", b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0", b"{\\rtf")
"""How PDF files, archives (today's Office files and e-books), yesterday's Office files and RTF begin."""
_SHORT = 250
"""Characters of a main text that is too short to be sure that it is the main one."""


def text_of(url: str, media_type: str, charset: str | None, body: bytes, raw: bool) -> str:
    """The text of a page, or its source, read in this process. Raises Unreadable."""
    if body.startswith(_DOCUMENT) and not raw:
        name = unquote(urlsplit(url).path).rpartition("/")[2] or "page"
        return read_document(body, name).text
    try:
        if media_type.startswith(_MEDIA) and not media_type.endswith("xml"):
            raise Unreadable("is a picture, sound, film or font")
        text = decode(body, charset)[0]
    except Unreadable as error:
        raise Unreadable(
            f"is of type {media_type or 'unknown'}, which cannot be opened as text",
            cause="unavailable",
            hint="look for the same content as an HTML page, a text or a PDF",
        ) from error
    return _markdown(text, url) if not raw and _is_html(media_type, text) else text


def _is_html(media_type: str, text: str) -> bool:
    """The server's type decides, unless it is empty or vague."""
    is_html = media_type in _HTML
    vague = media_type in ("", "application/octet-stream")
    return is_html or (vague and text[:1000].lstrip().lower().startswith(("<!doctype html", "<html")))


def _markdown(source: str, url: str) -> str:
    """The main part with its tables and links; the whole page if the main part is very short."""
    text = html_markdown(source, url, main_part)
    return text if len(text) >= _SHORT else html_markdown(source, url)
