"""What kind of sign a sentence or a cell is, by its words (`knowledge/sign_words.yaml`) and its form."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import yaml

RANKS = {
    "hidden": 6, "comment": 6, "speaker note": 6, "footnote": 6,
    "correction": 5, "exception": 5, "void": 5, "remark": 5, "odd line": 5, "odd value": 4, "version": 4,
    "unit": 3, "provisional": 3, "rule": 3, "definition": 3, "bound": 2,
}  # fmt: skip
"""The kinds; of several that fit a line, the one with the highest rank is its sign."""
COMMON = ("bound",)
"""Kinds whose words are common in plain text."""
_CURRENCY = r"(?:EUR|USD|GBP|CHF|JPY|€|\$|£)"
_FORMS = {
    "hidden": re.compile(r"\[hidden text: "),
    "comment": re.compile(r"\[comment (?:on|by) "),
    "correction": re.compile(r"\[(?:deleted|inserted|moved away|moved here) by "),
    "void": re.compile(r"~~\s?[\w€$£-]|\[struck: "),
    "unit": re.compile(
        rf"{_CURRENCY} ?(?:[kKT]|['’]?000s?|m|mn|bn|thousand|million)s?\b(?! \d)|\b[kKT]{_CURRENCY}"
    ),
    "definition": re.compile(
        r"[\"“„'‘][\w -]{2,40}[\"”“'’] (?:are those|means?|includes?|denotes?|refers|bedeutet|heißt)\b"
        r"|(?:\A|[,;(] ?)[^\W\d]{1,2} = [^\W\d]{3}"
        r"|\A\W*(?!This|That|It|Which)[A-Z][\w -]{1,40} (?:means (?:an?|the|any|all|each)|bedeutet)\b"
    ),
    "provisional": re.compile(r"(?<=\d) \((?:e|est\.?|p|prov\.?)\)|\best\.(?= ?\d)"),
}
"""Patterns that are case-sensitive or longer than one word."""
_NUMBER = r"(?=\s+\W?\s?(?:[A-Z]{3}\s)?\d)"
"""What must follow the words of a bound."""


class Found(NamedTuple):
    """A sign before those that are alike are counted."""

    kind: str
    text: str
    end: int = 0
    """Where its mark goes: characters from the beginning of the text at hand."""
    like: str = ""
    """The same for similar signs of one kind."""


def kind_of(text: str) -> tuple[str, str] | None:
    """The kind of sign that a text is, and the words that show it; None: none."""
    if label().match(text):
        return "remark", text
    hits = [(match.lastgroup or "", match) for match in _words().finditer(text)]
    hits += [(kind, match) for kind, form in _FORMS.items() if (match := form.search(text))]
    if not hits:
        return None
    kind, match = max(hits, key=lambda hit: (RANKS[hit[0]], -hit[1].start()))
    return kind, match[0].casefold()


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
        f"(?P<{kind}>(?:{_phrases()[kind]}){_NUMBER if kind == 'bound' else ''})"
        for kind in RANKS
        if kind in _phrases()
    )
    return re.compile(rf"(?<!\w)(?:{'|'.join(groups)})(?!\w)", re.IGNORECASE)


@cache
def label() -> re.Pattern[str]:
    """How a remark begins: 'Note 2:', '**Important!**', a comment in a source."""
    number = r"s?\W{0,2}\d{0,2}\W{0,2}[:–—!](?=\W*\w)"
    return re.compile(
        rf"[^\w|]{{0,4}}(?:{_phrases()['label']}){number}|<!--(?!\s*markdownlint)", re.IGNORECASE
    )
