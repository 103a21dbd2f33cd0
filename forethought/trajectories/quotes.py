"""Whether a quotation really stands in a text (AgentDebug 3.2: evidence).

Models copy loosely: they change case, spaces and quotation marks, leave out a middle with an ellipsis, write
the escapes of JSON or unwrap them. All of that is forgiven; a changed word is not. A text is folded in one
pass and searched in one pass, so that megabytes are no trouble.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from forethought.text import one_line

MIN_CHARS = 4
"""Minimum letters and digits of a quotation; shorter ones prove nothing."""
WHOLE_WORDS = 8
"""Letters and digits below which a quotation must be whole words of the text."""

_MARKS = dict.fromkeys(map(ord, "\"'`´‘’‚‛“”„‟«»‹›′″*_\\\u00ad\u200b\ufeff"))
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
# Possessive, and begun only where a run of backslashes begins: a long one would be tried over and over.
_CODES = re.compile(r"(?<!\\)(?:\\++u[0-9a-fA-F]{4})++")
_CONTROLS = re.compile(r"(?<!\\)\\++[nrtbf]")
_SPACES = re.compile(r"(?<=\w)\s+(?=\w)|(\s+)")
_ELLIPSIS = re.compile(r"\[\s*(?:\.{3,}|…)[^\[\]\n]{0,80}\]|\(\s*(?:\.{3,}|…)\s*\)|\.{3,}|…")


def occurs(quote: str, text: str) -> bool:
    """Whether `quote` stands in `text`; the parts around an ellipsis must stand there in their order."""
    parts = [part for piece in _ELLIPSIS.split(quote) if (part := _fold(piece).strip(".,;:-"))]
    size = sum(char.isalnum() for part in parts for char in part)
    if size < MIN_CHARS:
        return False
    haystack, position = _fold(text), 0
    for part in parts:
        position = _end_of(part, haystack, position, whole=size < WHOLE_WORDS)
        if position < 0:
            return False
    return True


def misquoted(quote: str, texts: Mapping[int, str], number: int, run: str = "") -> str | None:
    """Why `quote` is no passage of step `number`, and which steps hold it; None where it is one."""
    if occurs(quote, texts[number]):
        return None
    elsewhere = [str(other) for other, text in texts.items() if occurs(quote, text)]
    note = f" (it stands in step {', '.join(elsewhere[:5])})" if elsewhere else ""
    return (
        f'"{one_line(quote, 120)}" does not stand in step {number}{run}{note}: copy one passage of that '
        "step letter by letter"
    )


def _end_of(part: str, haystack: str, start: int, *, whole: bool) -> int:
    """Where the first `part` at or after `start` ends, or -1."""
    if whole:
        match = re.compile(rf"(?:\b|(?=\W)){re.escape(part)}(?:\b|(?<=\W))").search(haystack, start)
        return match.end() if match else -1
    at = haystack.find(part, start)
    return at if at < 0 else at + len(part)


def _fold(text: str) -> str:
    """`text` with all that copying may change taken away; a space is kept between two words only."""
    if "\\" in text:
        text = _CONTROLS.sub(" ", _CODES.sub(_decode, text))
    text = unicodedata.normalize("NFKC", text).casefold().translate(_MARKS | _DASHES)
    return _SPACES.sub(lambda found: "" if found[1] else " ", text.strip())


def _decode(found: re.Match[str]) -> str:
    """The characters of a run of \\uXXXX escapes, surrogate pairs included."""
    units = b"".join(
        int(code[1:], 16).to_bytes(2, "big") for code in re.findall(r"u[0-9a-fA-F]{4}", found[0])
    )
    return units.decode("utf-16-be", errors="replace")
