"""A page's bytes as text that a model can read."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from forethought.tools.base import ToolError
from forethought.tools.documents.apart import asked
from forethought.tools.documents.document import Unreadable
from forethought.tools.threads import in_daemon_thread
from forethought.tools.web.fetch import Page

_HTML = ("text/html", "application/xhtml+xml")
_PLAIN = ("json", "xml", "javascript", "yaml", "csv", "x-ndjson", "toml", "x-sh", "x-www-form-urlencoded")
_DOCUMENT = (b"%PDF-", b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0", b"{\\rtf")
"""How PDF files, archives (today's Office files and e-books), yesterday's Office files and RTF begin."""
_SHORT = 250
"""Characters of a main text that is too short to be sure that it is the main one."""
_TITLE = re.compile(r"<title(?:\s[^<>]{0,200})?>([^<]{0,2000})</title", re.IGNORECASE)
"""Bounded, so that a page of nothing but opening tags costs no more than its length."""


SECONDS = 40.0
"""Longest reading of one page."""


@dataclass(frozen=True)
class Sent:
    """What a server sent, and what it said of it."""

    url: str
    media_type: str
    charset: str | None
    body: bytes


async def page_text(page: Page) -> str:
    """Markdown of an HTML page or a document; other text as it is. Raises ToolError for anything else."""
    return await in_daemon_thread(lambda: _read_apart(page, raw=False))


async def page_source(page: Page) -> str:
    """A page's text as it was sent: its HTML, not what a reader sees. Raises ToolError if it is no text."""
    return await in_daemon_thread(lambda: _read_apart(page, raw=True))


def _read_apart(page: Page, *, raw: bool) -> str:
    job = {"job": "page", "url": page.url, "media_type": page.media_type, "charset": page.charset, "raw": raw}
    try:
        return str(asked(job, page.body, SECONDS)["text"])
    except Unreadable as error:
        hint = error.hint if error.cause == "unavailable" else "use another source"
        raise ToolError(f"{page.url} {error.what}", cause=error.cause, hint=hint) from error


def text_of(page: Sent, raw: bool = False) -> str:
    """The text of a page, or its source, read in this process. Raises Unreadable."""
    kind = _kind(page)
    if raw:
        if not _is_text(kind):
            raise _no_text(kind)
        return _decoded(page, is_html=kind in _HTML)
    if page.body.startswith(_DOCUMENT):
        return _document(page)
    if kind in _HTML:
        return _markdown(page)
    if _is_text(kind):
        return _decoded(page, is_html=False)
    raise _no_text(kind)


def _kind(page: Sent) -> str:
    """The page's type: what the server says, unless that is nothing, or a document's that it is not."""
    kind = page.media_type
    if not kind or (kind.startswith("application/") and not _is_text(kind)):
        return _sniff(page.body) or kind
    return kind


def _is_text(kind: str) -> bool:
    return kind.startswith("text/") or kind in _HTML or kind.rpartition("/")[2].rpartition("+")[2] in _PLAIN


def _no_text(kind: str) -> Unreadable:
    return Unreadable(
        f"is of type {kind or 'unknown'}, which cannot be opened as text",
        cause="unavailable",
        hint="look for the same content as an HTML page, a text or a PDF",
    )


def _sniff(body: bytes) -> str:
    """The type of a page whose server does not say it: HTML, plain text, or '' for neither."""
    if body[:1000].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return "text/html"
    try:
        body.decode()
    except UnicodeDecodeError:
        return ""
    return "" if b"\x00" in body else "text/plain"


def _document(page: Sent) -> str:
    from forethought.tools.documents.load import read_document

    return read_document(page.body, unquote(urlsplit(page.url).path).rpartition("/")[2] or "page").text


def _decoded(page: Sent, *, is_html: bool) -> str:
    """The charset of the byte order mark, the server or the page itself, else UTF-8 or Windows-1252.

    Guessing by statistics is left out: it takes short pages for Chinese.
    """
    from bs4.dammit import EncodingDetector

    body, mark = EncodingDetector.strip_byte_order_mark(page.body)
    own = EncodingDetector.find_declared_encoding(body, is_html=is_html)
    for charset in (mark, page.charset, own, "utf-8"):
        try:
            if charset:
                return body.decode(charset)
        except (LookupError, UnicodeError):
            continue
    loose = body.decode("utf-8", "replace")
    broken = loose.count("\ufffd")
    if broken * 10 < sum(character > "\x7f" for character in loose):
        return loose  # UTF-8 with a broken place
    return body.decode("windows-1252", "replace")


def _markdown(page: Sent) -> str:
    """The main text with its tables and links; everything on the page where next to no main text is found."""
    import trafilatura
    from trafilatura.settings import use_config

    source = _decoded(page, is_html=True)
    config = use_config()
    # Of a short text trafilatura would make one line, tables too.
    config.set("DEFAULT", "MIN_EXTRACTED_SIZE", "0")
    text = trafilatura.extract(
        source,
        config=config,
        url=page.url,
        output_format="markdown",
        include_tables=True,
        include_links=True,
        favor_recall=True,
    )
    if not text or len(text.strip()) < _SHORT:
        from forethought.tools.documents.html import html_markdown

        return html_markdown(source, page.url)
    title = _TITLE.search(source)
    name = " ".join(html.unescape(title[1]).split()) if title else ""
    return str(text) if not name or name in text else f"{name}\n\n{text}"
