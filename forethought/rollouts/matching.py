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
_YES_NO = re.compile(
    r"(yes|no)(?:\s*$|\s*[,;:!(\u2013\u2014]|\s*\.(?!\s*\d)|\s+-|"
    r"\s+(?:it|they|he|she|i|we|you|this|that|these|those|there|both|neither|because|since|not)\b)",
    re.IGNORECASE,
)
"""A yes or no that is said, not one that begins something else: 'no answer was found' says neither."""
_BOTH = re.compile(r"(yes|no)\W+(?:(?:and|or|but)\W+)?(?:yes|no)\b", re.IGNORECASE)
_POWER = re.compile("(?<=[0-9)])[\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u207a\u207b]+")
_FRACTION = re.compile("(?<=[0-9])(?=[\u00bc-\u00be\u2150-\u215e])")
_ACCENTS = re.compile("[\u0300-\u036f]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_MARKS = "".join(
    chr(code) for code in range(0x483, 0x1100) if unicodedata.category(chr(code)).startswith("M")
)
"""Signs that belong to the letter before them, as the vowels of Hindi do."""
_WORD = re.compile(
    r"(?<![\d.,:])\d+[.,:]\d+(?![.,:]?\d)"  # a decimal or a time, which is not two numbers
    rf"|[\w{_MARKS}]+\#?"
    r"|(?<!\w)-(?=\d)"
    r"|(?<=\w)-$"
    r"|[+=<>^\u00d7\u00f7\u2260\u2264\u2265]"
)
"""Words, and signs that make another answer: C#, A-, -3, y = 3x + 2."""


def same_answer(given: str, accepted: str) -> bool:
    """Whether `given` says the same as `accepted`: as yes or no, as a number, as a list in its order, or as
    words."""
    given, accepted = _bare(given), _bare(accepted)
    if accepted.casefold().rstrip(".!") in ("yes", "no"):
        said = None if _BOTH.match(given) else _YES_NO.match(given)
        return said is not None and said[1].casefold() == accepted.casefold().rstrip(".!")
    if _same_number(given, accepted) is not None:
        return bool(_same_number(given, accepted))
    ours, theirs = _items(given), _items(accepted)
    if len(theirs) > 1 and len(ours) == len(theirs):
        return all(_same_item(one, other) for one, other in zip(ours, theirs, strict=True))
    return _words(given) == _words(accepted)


def _bare(text: str) -> str:
    text = _FRACTION.sub(" ", _POWER.sub(lambda found: f"^{found[0]}", text))
    text = unicodedata.normalize("NFKC", text).replace("\u2212", "-").replace("\u2044", "/").strip()
    lead = _LEADS.match(text)
    bare = (text[lead.end() :] if lead else text).strip().strip("*`\"'").strip()
    return re.sub(r"^-\s+(?=\d)", "-", bare)


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
    plain = _ACCENTS.sub("", unicodedata.normalize("NFD", text.casefold()))
    plain = _THOUSANDS.sub("", unicodedata.normalize("NFC", plain)).strip(" .!?")
    words = _WORD.findall(re.sub(r"(?<=\w)['\u2019](?=\w)", "", plain))
    # What has no words at all, such as a sign, is itself and nothing else.
    return [word for word in words if word not in ("a", "an", "the")] or words or text.split()
