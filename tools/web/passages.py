"""The places of a long page where something occurs."""

from __future__ import annotations

import re
from dataclasses import dataclass

_AROUND = 400
"""Most characters shown before and after an occurrence."""
_LINES = 2
"""Lines shown before and after an occurrence, where they are not too long."""
_ALIKE = (
    "'\u2018\u2019\u201b\u02bc`\u00b4",
    '"\u201c\u201d\u201e\u00ab\u00bb',
    "-\u2010\u2011\u2012\u2013\u2014\u2212",
)


@dataclass
class Passage:
    """A piece of the text with matches in it that are near each other."""

    start: int
    end: int
    matches: int = 1


def find_passages(text: str, needle: str) -> list[Passage]:
    """Where `needle`, which is no pattern, occurs, whatever the case, the white space and the form of quotes
    and dashes. Places that overlap are one passage.
    """
    # A page has no-break spaces, line ends and typographic marks where nobody types them.
    words = ("".join(map(_character, word)) for word in needle.split())
    pattern = re.compile(r"\s+".join(words), re.IGNORECASE)
    passages: list[Passage] = []
    for match in pattern.finditer(text):
        before = text[max(0, match.start() - _AROUND) : match.start()].split("\n")[-(_LINES + 1) :]
        after = text[match.end() : match.end() + _AROUND].split("\n")[: _LINES + 1]
        start, end = match.start() - len("\n".join(before)), match.end() + len("\n".join(after))
        if passages and start <= passages[-1].end:
            passages[-1].end = max(end, passages[-1].end)
            passages[-1].matches += 1
        else:
            passages.append(Passage(start, end))
    return passages


def _character(needle: str) -> str:
    alike = next((marks for marks in _ALIKE if needle in marks), "")
    return f"[{re.escape(alike)}]" if alike else re.escape(needle)
