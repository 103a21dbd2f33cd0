"""Text of the model's own made harmless for readers that render Markdown: a picture or link whose address
nobody gave could carry a file out as soon as it is shown or clicked.

Only what the model writes to the person goes through here (answers, questions), and only in a thread that
holds both private text and text from outside. Addresses that the user or a source gave stay as they are; of
others the words stay readable, in backticks, where nothing loads or links them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Mapping

from forethought.nodes.support.addresses import address_key, approved_addresses, given_addresses
from forethought.nodes.support.provenance import influence
from forethought.state.agent import AgentState
from forethought.tools.base import Tool

_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,20}:)?[/\\]{2}[^\s<>\"'`)\]|]+|\bwww\.[^\s<>\"'`)\]|]+", re.IGNORECASE
)
_PICTURE = re.compile(r"!(?=\[)")
_TAG = re.compile(
    r"<(?=/?(?:a|area|audio|base|body|button|embed|form|frame|iframe|image|img|input|link|math|meta|object|"
    r"picture|script|source|style|svg|table|td|th|track|video)\b)",
    re.IGNORECASE,
)
_CODED = re.compile(
    r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|colon|sol|bsol|period|lpar|lsqb|excl|commat);", re.IGNORECASE
)
"""Characters of an address in disguise, which a reader of Markdown decodes."""
_DESTINATION = re.compile(r"!\[[^\]]{0,500}+\]\(\s{0,9}+<?([^\s)>]{1,3000}+)>?[^)]{0,500}+\)")


def for_person(text: str, state: AgentState, tools: Mapping[str, Tool]) -> str:
    """`text` as it may be shown: untouched in a thread without anything private or anything from outside."""
    if not influence(state, tools).guarded:
        return text
    return inert(text, given_addresses(state, tools) | approved_addresses(state, tools))


def inert(text: str, known: Collection[str]) -> str:
    """`text` with nothing in it that a Markdown or HTML reader would load or link, but `known` addresses."""
    text = _CODED.sub(lambda match: html.unescape(match[0]), text)
    pictures = {match.start() for match in _DESTINATION.finditer(text) if address_key(match[1]) in known}
    text = _PICTURE.sub(lambda match: "!" if match.start() in pictures else "", text)
    text = _TAG.sub("&lt;", text)
    return _ADDRESS.sub(lambda match: _quoted(match, known), text)


def _quoted(match: re.Match[str], known: Collection[str]) -> str:
    address = match[0]
    bare = address.rstrip(".,;:!?*_")
    if address_key(bare) in known or address_key(address) in known:
        return address
    return f"`{bare}`{address[len(bare) :]}"
