"""A page's bytes as text that a model can read; for a process apart, like `tools.documents.formats`."""

from __future__ import annotations

import html
import re
from urllib.parse import unquote, urlsplit

from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document
from forethought.tools.documents.pages import html_markdown
from forethought.tools.documents.plain import decode

_HTML = ("text/html", "application/xhtml+xml")
_MEDIA = ("image/", "audio/", "video/", "font/")
_DOCUMENT = (b"%PDF-", b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0", b"{\\rtf")
"""How PDF files, archives (today's Office files and e-books), yesterday's Office files and RTF begin."""
_SHORT = 250
"""Characters of a main text that is too short to be sure that it is the main one."""
_TITLE = re.compile(r"<title(?:\s[^<>]{0,200})?>([^<]{0,2000})</title", re.IGNORECASE)
"""Bounded, so that a page of nothing but opening tags costs no more than its length."""


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
    """What the server says, unless that is nothing or anything."""
    said = media_type in _HTML
    vague = media_type in ("", "application/octet-stream")
    return said or (vague and text[:1000].lstrip().lower().startswith(("<!doctype html", "<html")))


def _markdown(source: str, url: str) -> str:
    """The main text with its tables and links; everything on the page where next to no main text is found."""
    import trafilatura
    from trafilatura.settings import use_config

    config = use_config()
    # Of a short text trafilatura would make one line, tables too.
    config.set("DEFAULT", "MIN_EXTRACTED_SIZE", "0")
    text = trafilatura.extract(
        source,
        config=config,
        url=url,
        output_format="markdown",
        include_tables=True,
        include_links=True,
        favor_recall=True,
    )
    if not text or len(text.strip()) < _SHORT:
        return html_markdown(source, url)
    title = _TITLE.search(source)
    name = " ".join(html.unescape(title[1]).split()) if title else ""
    return str(text) if not name or name in text else f"{name}\n\n{text}"
