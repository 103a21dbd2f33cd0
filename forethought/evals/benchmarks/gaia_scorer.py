"""GAIA's quasi-exact match: an answer against the expected one, by the kind of the expected one.

A number is compared as a number, a list element by element, anything else as text without spaces, case and
punctuation. The rules, odd ones included, are those of the leaderboard's scorer: a number may carry $, % and
commas; an answer that is no number counts as infinity; within a list punctuation counts.
"""

from __future__ import annotations

import re
import string

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_UNITS = str.maketrans("", "", "$%,")
_SEPARATOR = re.compile("[,;]")


def quasi_exact_match(answer: str, expected: str) -> bool:
    """Whether `answer` is right by GAIA's rules (Mialon et al. 2023, section 3)."""
    if (number := _number(expected)) is not None:
        return _read_number(answer) == number
    reference = _SEPARATOR.split(expected)
    if len(reference) == 1:
        return _plain(answer).translate(_PUNCTUATION) == _plain(expected).translate(_PUNCTUATION)
    parts = _SEPARATOR.split(answer)
    return len(parts) == len(reference) and all(map(_same_element, parts, reference))


def kind_of(expected: str) -> str:
    """What `expected` is compared as: number, list or text."""
    if _number(expected) is not None:
        return "number"
    return "list" if _SEPARATOR.search(expected) else "text"


def _same_element(part: str, reference: str) -> bool:
    number = _number(reference)
    return _plain(part) == _plain(reference) if number is None else _read_number(part) == number


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _read_number(text: str) -> float:
    """The number in an answer, without the signs that often stand with one."""
    number = _number(text.translate(_UNITS))
    return float("inf") if number is None else number


def _plain(text: str) -> str:
    return re.sub(r"\s", "", text).lower()
