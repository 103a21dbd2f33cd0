"""When two answers are the same: letter case, articles, punctuation and ways to write a number do not count.

Stricter than a reader and laxer than equality, in the manner of question-answering benchmarks: the whole
answer must match, or its first line where an explanation follows, so that naming several candidates does not
pass.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal, InvalidOperation

_NUMBER = re.compile(
    r"(?P<before>[^\d\s.,+-]{0,3})\s*(?P<number>[+-]?(?:\d{1,3}(?:[, '\u00a0\u202f]\d{3})+|\d+)?(?:\.\d+)?"
    r"(?:[eE][+-]?\d{1,4})?)\s*(?P<after>[^\d]*)"
)
_SIGNS = "$€£¥%"
_LEADS = re.compile(r"(?:the\s+)?(?:final\s+)?answer\s*(?:is\s*:?|:)\s*", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[;\n]|,(?!\d{3}\b)|\band\b|\bund\b)\s*", re.IGNORECASE)
_YES_NO = re.compile(
    r"(yes|no)(?:\s*$|\s*[,;:!(\u2013\u2014]|\s*\.(?!\s*\d)|\s+-|"
    r"\s+(?:it|they|he|she|i|we|you|this|that|these|those|there|both|neither|because|since|not)\b)",
    re.IGNORECASE,
)
"""A yes or no that is said, not one that begins something else: 'no answer was found' says neither."""
_BOTH = re.compile(r"(yes|no)\W+(?:(?:and|or|but)\W+)?(?:yes|no)\b", re.IGNORECASE)
_ACCENTS = re.compile("[\u0300-\u036f]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_JOINTS = re.compile(r"(?<=\w)[-/](?=\w)")
_APOSTROPHES = re.compile("(?<=\\w)['\u2019](?=\\w)")
_EDGES = ".,;:!?()[]{}\"'*`\u2018\u2019\u201c\u201d\u00ab\u00bb"
"""Punctuation around a word; all else makes another answer: C#, A-, -3, y = 3x + 2."""


_EXPLAINED = re.compile(r"\s*([^\n]+)\n(?:[ \t]*\n|(?:\S+[ \t]+){4})")
"""A first line, and below it a paragraph of its own or a sentence, which is no second candidate."""


def same_answer(answer: str, accepted: str) -> bool:
    """Whether `answer`, or its first line above an explanation, says the same as `accepted`: as yes or no, as
    a number, as a list in its order, or as words."""
    explained = _EXPLAINED.match(answer)
    return _same(answer, accepted) or (explained is not None and _same(explained[1], accepted))


def one_contains_the_other(answer: str, accepted: str) -> bool:
    """Whether the words of one are in the other: the same answer, perhaps, which a model could tell."""
    first, second = (f" {' '.join(_words(text))} " for text in (answer, accepted))
    return first in second or second in first


def _same(answer: str, accepted: str) -> bool:
    answer, accepted = _bare(answer), _bare(accepted)
    if accepted.casefold().rstrip(".!") in ("yes", "no"):
        word = None if _BOTH.match(answer) else _YES_NO.match(answer)
        return word is not None and word[1].casefold() == accepted.casefold().rstrip(".!")
    ours, theirs = _ITEM.split(answer), _ITEM.split(accepted)
    if len(theirs) > 1 and len(ours) == len(theirs) and _number(accepted) is None:
        return all(_same_item(one, other) for one, other in zip(ours, theirs, strict=True))
    return _same_item(answer, accepted)


def _bare(text: str) -> str:
    text = text.replace("\u2212", "-").strip()
    lead = _LEADS.match(text)
    bare = (text[lead.end() :] if lead else text).strip().strip("*`\"'").strip()
    return re.sub(r"^-\s+(?=\d)", "-", bare)


def _same_item(one: str, other: str) -> bool:
    """Whether both are the same number in the same unit, or else the same words."""
    first, second = _number(one), _number(other)
    if first is None or second is None:
        return _words(one) == _words(other)
    units = {first[1], second[1]} - {""}
    return first[0] == second[0] and len(units) < 2 and (first[1] == second[1] or units <= set(_SIGNS))


def _number(text: str) -> tuple[Decimal, str] | None:
    """The value and the unit of a text that is a number, a sign or unit before or after it aside."""
    match = _NUMBER.fullmatch(text.strip().rstrip("."))
    if match is None or not match["number"] or len(match["after"].split()) > 2:
        return None
    try:
        value = Decimal(re.sub(r"[, '\u00a0\u202f]", "", match["number"]))
    except InvalidOperation:
        return None
    return value, " ".join(_words(match["before"]) or _words(match["after"]))


def _words(text: str) -> list[str]:
    plain = _ACCENTS.sub("", unicodedata.normalize("NFD", text.casefold()))
    plain = _APOSTROPHES.sub("", _THOUSANDS.sub("", unicodedata.normalize("NFC", plain)))
    words = [word.strip(_EDGES) for word in re.split(r"[\s,;]+", _JOINTS.sub(" ", plain))]
    return [word for word in words if word and word not in ("a", "an", "the")] or text.split()
