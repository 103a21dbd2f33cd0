"""Whether a text has anything in it that a person can see."""

from __future__ import annotations

import re
import unicodedata

_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and a symbol that are blank: Hangul fillers, Braille without a dot."""
_FENCE = re.compile(r"^ {0,3}(?:`{3,}[^`\n]*|~{3,}[^\n]*)$", re.MULTILINE)
"""A line that opens or closes a block of code in Markdown; it is not shown itself."""


def shows_something(text: str) -> bool:
    """Whether more than white space, control and format characters, fillers, marks without a letter and the
    fences of empty code blocks is in it."""
    return any(map(_is_visible, _FENCE.sub("", text)))


def _is_visible(character: str) -> bool:
    return unicodedata.category(character)[0] not in "CZM" and character not in _FILLERS
