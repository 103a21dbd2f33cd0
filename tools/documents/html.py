"""Web pages saved as files: BeautifulSoup cleans them, markdownify writes Markdown; tables keep spans."""

from __future__ import annotations

import re
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.plain import decode
from forethought.tools.documents.tables import html_rows, markdown_table

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

_DROPPED = ["script", "style", "noscript", "template", "svg", "iframe", "object", "head"]
_LONGEST_LINK = 300


def read_html(data: bytes) -> Document:
    """Headings, paragraphs, lists, links and tables; scripts and styles are left out."""
    text, note = decode(data)
    return Document((Section(html_markdown(text)),), note=note)


def html_markdown(text: str, address: str = "") -> str:
    """HTML as Markdown, with the page's title first if its body does not begin with it. Links that begin at
    the page's own `address` are written out; without one they are left out.
    """
    from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning

    warnings.filterwarnings("ignore", category=XMLParsedAsHTMLWarning)
    soup = BeautifulSoup(re.sub(r"^\s*<\?xml[^>]*\?>", "", text), "lxml")
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    for tag in soup(_DROPPED):
        tag.decompose()
    if address:
        for link in soup("a", href=True):
            with suppress(ValueError):  # no address at all
                link["href"] = urljoin(address, str(link["href"]).strip())
    body = _convert(soup)
    return body if not title or title in body[:500] else f"{title}\n\n{body}".strip()


def _convert(soup: BeautifulSoup) -> str:
    try:
        markdown = _converter().convert_soup(soup)
    except RecursionError:  # nested too deep for a recursive converter; the text alone is still worth having
        markdown = soup.get_text("\n")
    lines = "\n".join(line.rstrip() for line in markdown.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).strip()


def _converter() -> MarkdownConverter:
    from markdownify import MarkdownConverter

    class Converter(MarkdownConverter):
        """Tables with their spans; links only where they are of use; pictures by their description."""

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
