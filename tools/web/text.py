"""A page's bytes as text that a model can read."""

from __future__ import annotations

import asyncio
import html
import re
from urllib.parse import unquote, urlsplit

from tools.base import ToolError
from tools.threads import in_daemon_thread
from tools.web.fetch import Page

_HTML = ("text/html", "application/xhtml+xml")
_PLAIN = ("json", "xml", "javascript", "yaml", "csv", "x-ndjson", "toml", "x-sh", "x-www-form-urlencoded")
_DOCUMENT = (b"%PDF-", b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0", b"{\\rtf")
"""How PDF files, archives (today's Office files and e-books), yesterday's Office files and RTF begin."""
_TITLE = re.compile(r"<title(?:\s[^<>]{0,200})?>([^<]{0,2000})</title", re.IGNORECASE)
"""Bounded, so that a page of nothing but opening tags costs no more than its length."""


async def page_text(page: Page) -> str:
    """Markdown of an HTML page or a document; other text as it is. Raises ToolError for anything else."""
    return await in_daemon_thread(lambda: _text(page))


async def page_source(page: Page) -> str:
    """A page's text as it was sent: its HTML, not what a reader sees. Raises ToolError if it is no text."""
    if not _is_text(_kind(page)):
        raise _unreadable(page, _kind(page))
    return await asyncio.to_thread(_decoded, page, is_html=_kind(page) in _HTML)


def _kind(page: Page) -> str:
    """The page's type: what the server says, unless that is nothing, or a document's that it is not."""
    kind = page.media_type
    if not kind or (kind.startswith("application/") and not _is_text(kind)):
        return _sniff(page.body) or kind
    return kind


def _is_text(kind: str) -> bool:
    return kind.startswith("text/") or kind in _HTML or kind.rpartition("/")[2].rpartition("+")[2] in _PLAIN


def _text(page: Page) -> str:
    kind = _kind(page)
    if page.body.startswith(_DOCUMENT):
        return _document(page)
    if kind in _HTML:
        return _markdown(page)
    if _is_text(kind):
        return _decoded(page, is_html=False)
    raise _unreadable(page, kind)


def _unreadable(page: Page, kind: str) -> ToolError:
    return ToolError(
        f"{page.url} is of type {kind or 'unknown'}, which cannot be opened as text",
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


def _document(page: Page) -> str:
    from tools.documents.document import Unreadable
    from tools.documents.load import read_document

    name = unquote(urlsplit(page.url).path).rpartition("/")[2] or "page"
    try:
        return read_document(page.body, name).text
    except Unreadable as error:
        raise ToolError(f"{page.url} {error.what}", cause=error.cause, hint="use another source") from error


def _decoded(page: Page, *, is_html: bool) -> str:
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


def _markdown(page: Page) -> str:
    """The main text with its tables and links; everything on the page where no main text is found."""
    import trafilatura

    source = _decoded(page, is_html=True)
    text = trafilatura.extract(
        source,
        url=page.url,
        output_format="markdown",
        include_tables=True,
        include_links=True,
        favor_recall=True,
    )
    if not text or not text.strip():
        from tools.documents.html import html_markdown

        return html_markdown(source)
    title = _TITLE.search(source)
    name = " ".join(html.unescape(title[1]).split()) if title else ""
    return str(text) if not name or name in text else f"{name}\n\n{text}"
