"""A model's Markdown as HTML that can do nothing: no HTML of its own, no pictures, links to the web alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from forethought.app.text import clean

_WEB = re.compile(r"https?://", re.IGNORECASE)
_DEEPER = 2
"""Levels by which headings go down: a page has its own above them."""


class _Safe(MarkdownIt):
    """CommonMark with tables."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False, "linkify": False})
        self.enable("table").disable(["image", "html_inline", "html_block"])

    def validateLink(self, url: str) -> bool:
        """Whether a link is one."""
        return bool(_WEB.match(url.strip()))


_MARKDOWN = _Safe()


def prose(text: object) -> Markup:
    """The text as HTML without styles and scripts."""
    tokens = _MARKDOWN.parse(clean(text))
    _tame(tokens)
    html: str = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    # An entity such as &#x202e; is a character only now.
    return Markup(clean(html))


def _tame(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.type == "link_open":
            token.attrs |= {"rel": "noopener noreferrer"}
        if style := str(token.attrs.pop("style", "")):
            token.attrs["class"] = style.removeprefix("text-align:")
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + _DEEPER)}"
        _tame(token.children or [])
