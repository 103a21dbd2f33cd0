"""What kind of sign a sentence or a cell is, by its words (`knowledge/sign_words.yaml`) and its form."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import yaml

from forethought.text import one_line

RANKS = {
    "hidden": 6, "comment": 6, "speaker note": 6, "footnote": 6,
    "correction": 5, "exception": 5, "void": 5, "remark": 5, "odd line": 5, "odd value": 4, "version": 4,
    "deputy": 3, "unit": 3, "time zone": 3, "provisional": 3, "rule": 3, "definition": 3, "total": 2,
    "bound": 2, "period": 2, "case": 2, "negation": 1,
}  # fmt: skip
"""The kinds, and their rank if there are too many signs."""
COMMON = ("bound", "period", "case", "negation")
"""Kinds whose words are common in plain text."""
QUOTE = 160
_BEFORE = 60
"""Characters of a quote before the words that matter."""
_CURRENCY = r"(?:EUR|USD|GBP|CHF|JPY|€|\$|£)"
_FORMS = {
    "void": re.compile(r"~~\s?[\w€$£-]"),
    "unit": re.compile(
        rf"{_CURRENCY} ?(?:[kKT]|['’]?000s?|m|mn|bn|thousand|million)s?\b(?! \d)|\b[kKT]{_CURRENCY}"
    ),
    "time zone": re.compile(r"\b(?:UTC|GMT|CES?T|[EPCM][SD]T|BST|IST|JST|AE[SD]T)\b"),
    "definition": re.compile(
        r"[\"“„'‘][\w -]{2,40}[\"”“'’] (?:is|are|means?|includes?|denotes?|refers|ist|sind|bedeutet|heißt)\b"
        r"|(?:\A|[,;(] ?)[^\W\d]{1,2} = [^\W\d]{3}|\A\W*[A-Z][\w -]{1,40} (?:means|bedeutet|bezeichnet)\b"
    ),
    "provisional": re.compile(r"(?<=\w) ?\((?:e|est\.?|p|prov\.?)\)|\best\.(?= ?\d|$)"),
}
"""Patterns that are case-sensitive or longer than one word."""
_BEHIND = {
    "bound": r"(?=\s+\W?\s?(?:[A-Z]{3}\s)?\d)",
    "period": r"(?=\s+(?:the\s|dem\s)?(?:\d|(?-i:[A-ZÄÖÜ][a-zä]{2})))",
}
"""What must follow a kind's words: a number; a date or a month."""
_BEGINNING = 4
"""Characters within which a condition's word ('If') must begin."""


class Found(NamedTuple):
    """A sign before those that are alike are counted."""

    kind: str
    text: str
    place: str = ""
    like: str = ""
    """The same for similar signs of one kind."""


def kind_of(text: str) -> tuple[str, int, str] | None:
    """The kind of sign that a text is, where its words begin, and the words; None: none."""
    if label().match(text):
        return "remark", 0, text
    hits = [((match.lastgroup or "").replace("_", " "), match) for match in _words().finditer(text)]
    hits = [(kind, match) for kind, match in hits if kind != "case" or match.start() <= _BEGINNING]
    hits += [(kind, match) for kind, form in _FORMS.items() if (match := form.search(text))]
    if not hits:
        return None
    kind, match = max(hits, key=lambda hit: (RANKS[hit[0]], -hit[1].start()))
    return kind, match.start(), match[0].casefold()


def quote(text: str, at: int = 0) -> str:
    """About QUOTE characters of `text` around the place `at`."""
    start = max(0, at - _BEFORE) if len(text) > QUOTE else 0
    while 0 < start < at and text[start - 1].isalnum():
        start += 1
    return one_line(("…" if start else "") + text[start : start + 2 * QUOTE], QUOTE)


@cache
def _phrases() -> dict[str, str]:
    """By kind the phrases of all languages, the longest first."""
    text = files("forethought.knowledge").joinpath("sign_words.yaml").read_text("utf-8")
    phrases: dict[str, list[str]] = {}
    for kinds in yaml.load(text, yaml.BaseLoader).values():
        for kind, words in kinds.items():
            phrases.setdefault(kind, []).extend(words)
    return {kind: "|".join(map(_phrase, sorted(words, key=len)[::-1])) for kind, words in phrases.items()}


def _phrase(phrase: str) -> str:
    return re.escape(phrase).replace(r"\ ", r"[\s-]+").replace(r"\*", r"\w*")


@cache
def _words() -> re.Pattern[str]:
    """Any phrase, in a group of its kind's name."""
    groups = (
        f"(?P<{kind.replace(' ', '_')}>(?:{_phrases()[kind]}){_BEHIND.get(kind, '')})"
        for kind in RANKS
        if kind in _phrases()
    )
    return re.compile(rf"(?<!\w)(?:{'|'.join(groups)})(?!\w)", re.IGNORECASE)


@cache
def label() -> re.Pattern[str]:
    """How a remark begins: 'Note 2:', '**Important!**', a comment in a source."""
    number = r"s?\W{0,2}\d{0,2}\W{0,2}[:–—!](?=\W*\w)"
    return re.compile(rf"[^\w|]{{0,4}}(?:{_phrases()['label']}){number}|<!--", re.IGNORECASE)


@cache
def total_row() -> re.Pattern[str]:
    """How the first cell of a row of totals begins."""
    return re.compile(rf"(?:{_phrases()['total row']})(?!\w)", re.IGNORECASE)


@cache
def condition() -> re.Pattern[str]:
    """What makes a clause of a task a condition: a word or a date."""
    date = r"\b(?:19|20)\d\d\b|\b\d{1,2}[./]\d{1,2}[./]|\bQ[1-4]\b"
    return re.compile(rf"(?<!\w)(?:{_phrases()['condition']})(?!\w)|{date}", re.IGNORECASE)
