"""Web pages saved as files, and e-books (.epub), which hold such pages.

BeautifulSoup cleans a page and markdownify writes Markdown; tables keep their spans.
"""

from __future__ import annotations

import posixpath
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from email import message_from_bytes, policy
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin

from forethought.tools.documents.archive import open_archive, parse_xml
from forethought.tools.documents.document import Document, Section, Unreadable
from forethought.tools.documents.page_marks import mark_page
from forethought.tools.documents.plain import decode
from forethought.tools.documents.tables import html_rows, markdown_table

if TYPE_CHECKING:
    from bs4 import Tag
    from markdownify import MarkdownConverter

_DROPPED = ["script", "style", "noscript", "template", "svg", "iframe", "object", "head"]
_LONGEST_LINK = 300


def read_html(data: bytes) -> Document:
    """Headings, paragraphs, lists, links and tables; scripts and styles are left out."""
    text, note = decode(data)
    return Document((Section(html_markdown(text)),), note=note)


def read_mht(data: bytes) -> Document:
    """A page that a browser saved in one file with its pictures."""
    message = message_from_bytes(data, policy=policy.default)
    pages = [part for part in message.walk() if part.get_content_type() == "text/html"]
    texts = [
        decode(bytes(page.get_payload(decode=True) or b""), page.get_content_charset())[0] for page in pages
    ]
    address = message["Snapshot-Content-Location"] or message["Content-Location"]
    lead = f"Saved from {address}" if address else ""
    return Document((Section("\n\n".join(filter(None, (lead, *map(html_markdown, texts))))),))


def html_markdown(text: str, address: str = "", part: Callable[[Tag], Tag] = lambda page: page) -> str:
    """HTML as Markdown, with the page's title first if its body does not begin with it.

    Args:
        text: The page.
        address: Its address. With one, links are written out; without one, they are left out.
        part: Gives the part of the page to be shown.
    """
    from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning

    warnings.filterwarnings("ignore", category=XMLParsedAsHTMLWarning)
    soup = BeautifulSoup(re.sub(r"^\s*<\?xml[^>]*\?>", "", text), "lxml")
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    data = "" if address else mark_page(soup)  # of a page on the web the parts that are shown are enough
    for tag in soup(_DROPPED):
        tag.decompose()
    if address:
        for link in soup("a", href=True):
            with suppress(ValueError):  # no address at all
                link["href"] = urljoin(address, str(link["href"]).strip())
    body = _convert(part(soup))
    pieces = ("" if title in body[:500] else title, body, data)
    return "\n\n".join(filter(None, pieces))


def _convert(soup: Tag) -> str:
    try:
        markdown = _converter().convert_soup(soup)
    except RecursionError:  # nested too deep for a recursive converter; the text alone is still worth having
        markdown = soup.get_text("\n")
    lines = "\n".join(line.rstrip() for line in markdown.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).strip()


def _converter() -> MarkdownConverter:
    from markdownify import MarkdownConverter

    class Converter(MarkdownConverter):
        """Tables with their spans; links only if they are of use; pictures by their description."""

        def convert_table(self, el: Any, text: str, parent_tags: set[str]) -> str:
            if el.find("table") or len(el.find_all(["td", "th"], limit=2)) < 2:  # there for the layout only
                return f"\n\n{text}\n\n"
            caption = el.caption.get_text(" ", strip=True) if el.caption else ""
            return f"\n\n{caption}\n\n{markdown_table(html_rows(el))}\n\n"

        def convert_td(self, el: Any, text: str, parent_tags: set[str]) -> str:
            return f"{text}\n\n"

        convert_th = convert_td

        def convert_tr(self, el: Any, text: str, parent_tags: set[str]) -> str:
            return text

        def convert_a(self, el: Any, text: str, parent_tags: set[str]) -> str:
            address = el.get("href") or ""
            useful = address.startswith(("http://", "https://", "mailto:")) and len(address) <= _LONGEST_LINK
            return f"[{text.strip()}]({address})" if useful and text.strip() else text

        def convert_img(self, el: Any, text: str, parent_tags: set[str]) -> str:
            return " ".join((el.get("alt") or "").split())

    return Converter(
        heading_style="ATX",
        bullets="-",
        sup_symbol="^",  # else a footnote's mark would become a digit of the number before it
        escape_asterisks=False,
        escape_underscores=False,
        escape_misc=False,
    )


def read_epub(data: bytes) -> Document:
    """A section a chapter, and a note of title and authors. Raises Unreadable."""
    with open_archive(data) as archive:
        container = parse_xml(archive.read("META-INF/container.xml"))
        book = next(iter(container.iter("{*}rootfile"))).get("full-path")
        root, names = parse_xml(archive.read(book)), set(archive.namelist())
        pages = [archive.read(path) for path in _spine(root, posixpath.dirname(book)) if path in names]
    chapters = [text for page in pages if (text := read_html(page).text)]
    if not chapters:
        raise Unreadable("has no chapter with text", cause="empty", hint="Ask the user for another format.")
    sections = [
        Section(text, str(number), f"## Chapter {number} of {len(chapters)}")
        for number, text in enumerate(chapters, 1)
    ]
    return Document(tuple(sections), unit="chapter", note=_about(root))


def _spine(root: Any, folder: str) -> list[str]:
    """Names of the chapters' members, in order, each once: a book that names one a thousand times means harm.
    They are looked up in the archive only, never on a disk.
    """
    items = {
        item.get("id"): posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or "")))
        for item in root.iter("{*}item")
    }
    refs = (ref.get("idref") for ref in root.iter("{*}itemref"))
    return list(dict.fromkeys(items[ref] for ref in refs if ref in items))


def _about(root: Any) -> str:
    title, author = (
        ", ".join(" ".join((e.text or "").split()) for e in root.iter(f"{{*}}{name}") if e.text)
        for name in ("title", "creator")
    )
    return f"E-book: {title}{f' by {author}' if author else ''}." if title else ""
