"""Harmless text: no address in it loads or links.

Text of a model is made harmless for readers that render Markdown: a picture could carry a file out as soon as
it is shown, by its address or by the choice among many. So no picture is shown, and an address that no source
gave is shown in backticks.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection

from markdown_it import MarkdownIt
from markdown_it.token import Token

from forethought.nodes.support.addresses import LINK, address_key

_MARKDOWN = MarkdownIt("commonmark").disable("inline")
_TAG = re.compile(
    r"<(?=/?(?:a|area|audio|base|body|button|embed|form|frame|iframe|image|img|input|link|math|meta|object|"
    r"picture|script|source|style|svg|table|td|th|track|video)\b)",
    re.IGNORECASE,
)


def inert(text: str, known: Collection[str]) -> str:
    """`text` with nothing in it that a Markdown or HTML reader would load, or link but `known` addresses.

    Blocks of code stay as they are, unless a change beside them would open them.
    """
    text = re.sub(r"\r\n?", "\n", text)
    lines, shown, end, blocks = text.split("\n"), list[str](), 0, _code_blocks(text)
    for block in blocks:
        first, after = block.map or (end, end)
        before = [_without_links("\n".join(lines[end:first]), known)] if first > end else []
        shown += [*before, *lines[first:after]]
        end = after
    shown += [_without_links("\n".join(lines[end:]), known)] if end < len(lines) else []
    whole = "\n".join(shown)
    same = [block.content for block in blocks] == [block.content for block in _code_blocks(whole)]
    return whole if same else _without_links(text, known)


def _code_blocks(text: str) -> list[Token]:
    if "```" not in text and "~~~" not in text:
        return []
    return [token for token in _MARKDOWN.parse(text) if token.type == "fence" and token.level == 0]


def _without_links(text: str, known: Collection[str]) -> str:
    text = re.sub(r"&#?\w{1,32};", lambda coded: html.unescape(coded[0]), text)
    text = re.sub(r"!+(?=\[)", "", re.sub(r"&(?=#?\w{1,32};)", "&amp;", text))
    text = _TAG.sub("&lt;", text)
    return LINK.sub(lambda match: _quote(match[0], known), text)


def _quote(address: str, known: Collection[str]) -> str:
    bare = address.rstrip(".,;:!?*_")
    is_known = address_key(bare) in known or address_key(address) in known
    return address if is_known else f"`{bare}`{address[len(bare) :]}"
