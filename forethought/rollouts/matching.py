"""When two answers are the same: letter case, articles, punctuation and ways to write a number do not count.

Stricter than a reader and laxer than equality, in the manner of question-answering benchmarks: the whole
answer must match, so that naming several candidates does not pass.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal, InvalidOperation

_NUMBER = re.compile(
    r"(?P<before>[^\d\s.,+-]{0,3})\s*(?P<number>[+-]?(?:\d{1,3}(?:[, '\u00a0\u202f]\d{3})+|\d+)?(?:\.\d+)?"
    r"(?:[eE][+-]?\d{1,4})?)\s*(?P<after>.*)"
)
_SIGNS = "$€£¥%"
_LEADS = re.compile(r"(?:the\s+)?(?:final\s+)?answer\s*(?:is\s*:?|:)\s*", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[;\n]|,(?!\d{3}\b)|\band\b|\bund\b)\s*", re.IGNORECASE)
_YES_NO = re.compile(r"(yes|no)\b(?!\s*(?:one|body|\.\s*\d))", re.IGNORECASE)


def same_answer(given: str, accepted: str) -> bool:
    """Whether `given` says the same as `accepted`: as yes or no, as a number, as a list in its order, or as
    words."""
    given, accepted = _bare(given), _bare(accepted)
    if accepted.casefold().rstrip(".!") in ("yes", "no"):
        said = _YES_NO.match(given)
        return said is not None and said[1].casefold() == accepted.casefold().rstrip(".!")
    if _same_number(given, accepted) is not None:
        return bool(_same_number(given, accepted))
    ours, theirs = _items(given), _items(accepted)
    if len(theirs) > 1 and len(ours) == len(theirs):
        return all(_same_item(one, other) for one, other in zip(ours, theirs, strict=True))
    return _words(given) == _words(accepted)


def _bare(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).replace("\u2212", "-").strip()
    lead = _LEADS.match(text)
    return (text[lead.end() :] if lead else text).strip().strip("*`\"'").strip()


def _same_item(one: str, other: str) -> bool:
    number = _same_number(one, other)
    return _words(one) == _words(other) if number is None else number


def _same_number(one: str, other: str) -> bool | None:
    """Whether both are the same number in the same unit; None where one is no number."""
    first, second = _number(one), _number(other)
    if first is None or second is None:
        return None
    if first[0] != second[0]:
        return False
    units = {first[1], second[1]} - {""}
    return len(units) < 2 and (first[1] == second[1] or units <= set(_SIGNS))


def _number(text: str) -> tuple[Decimal, str] | None:
    """The value and the unit of a text that is a number, a sign or unit before or after it aside."""
    found = _NUMBER.fullmatch(text.strip().rstrip("."))
    if found is None or not found["number"]:
        return None
    if len(found["after"].split()) > 2 or re.search(r"\d", found["after"]):
        return None
    try:
        value = Decimal(re.sub(r"[, '\u00a0\u202f]", "", found["number"]))
    except InvalidOperation:
        return None
    unit = "".join(_words(found["before"]) or found["before"].strip()) or " ".join(_words(found["after"]))
    return value, unit or found["after"].strip()


def _items(text: str) -> list[str]:
    return [item for item in _ITEM.split(text) if item.strip()]


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    words = re.findall(r"\w+", re.sub(r"(?<=\w)['’](?=\w)", "", plain))
    return [word for word in words if word not in ("a", "an", "the")] or words
