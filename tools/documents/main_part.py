"""The main part of a web page: without menus, advertisements, comments and lists of links.

Side notes, parts with the name of one, and blocks that are mostly links go. Of the rest, the innermost block
that holds nearly all prose stays. A block that holds most of the page stays whatever its name: the comments
of a forum are its main part.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from bs4 import Tag

_BESIDE = ("nav", "aside", "footer", "button", "select", "dialog")
_ROLES = ("navigation", "banner", "contentinfo", "complementary", "search", "dialog", "menu", "alert")
_CALLED = re.compile(
    r"(?<![a-z])(nav|navi|navigation|navbar|menu|breadcrumbs?|sidebar|footer|header|comments?|shar(e|ing)|social"
    r"|related|newsletter|cookies?|banner|promo|ads?|widgets?|recommend\w*|teaser\w*)(?![a-z])"
)
"""Whole words of a class or an id."""
_BLOCKS = ("ul", "ol", "dl", "div", "section", "table")
_PROSE = ("p", "pre", "blockquote", "table", "dl")
_NEARLY_ALL = 0.92
_LARGE = 0.3
_LEAST = 200
"""Characters of prose below which no block is taken for the main one."""


class _Count(NamedTuple):
    """Characters of a block: all, in links, and in prose outside of links."""

    all: int = 0
    links: int = 0
    prose: int = 0


def main_part(page: Tag) -> Tag:
    """The main part of a parsed page, which is cut down for it. Takes time in proportion to the page."""
    for tag in page(_BESIDE):
        tag.decompose()
    total = sum(len(text.strip()) for text in page.strings)
    counts: dict[int, _Count] = {}
    for tag in reversed([page, *page.find_all(True)]):  # the parts of a block come before it
        count = _count(tag, counts)
        listing = tag.name in _BLOCKS and count.links > count.all / 2
        if (listing and count.all < _LARGE * total) or (_is_called_beside(tag) and count.all < total / 2):
            tag.decompose()
            count = _Count()
        counts[id(tag)] = count
    return _innermost(page, counts)


def _innermost(page: Tag, counts: dict[int, _Count]) -> Tag:
    least = max(_LEAST, _NEARLY_ALL * counts[id(page)].prose)
    inner: Tag | None = page
    while inner is not None:
        page = inner
        inside = (
            tag for tag in page.find_all(True, recursive=False) if tag.name not in (*_PROSE, "ul", "ol")
        )
        inner = next((tag for tag in inside if counts[id(tag)].prose >= least), None)
    return page


def _count(tag: Tag, counts: dict[int, _Count]) -> _Count:
    """The sum of the counts of its parts."""
    from bs4 import Tag
    from bs4.element import NavigableString

    inside = [counts[id(child)] for child in tag.children if isinstance(child, Tag)]
    own = sum(len(child.strip()) for child in tag.children if type(child) is NavigableString)
    length = own + sum(count.all for count in inside)
    links = length if tag.name == "a" else sum(count.links for count in inside)
    return _Count(
        length, links, length - links if tag.name in _PROSE else sum(count.prose for count in inside)
    )


def _is_called_beside(tag: Tag) -> bool:
    if tag.name in ("html", "body", "main", "article"):
        return False
    names = " ".join([*tag.get_attribute_list("class"), str(tag.get("id") or "")])
    names = re.sub(r"([a-z])([A-Z])", r"\1-\2", names).lower()
    return tag.name == "form" or tag.get("role") in _ROLES or bool(_CALLED.search(names))
