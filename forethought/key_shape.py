"""Whether a text has the shape of a key, as none of its words, versions, dates and model names have it."""

from __future__ import annotations

import re

_KNOWN = re.compile(
    r"(?<![A-Za-z\d])(?:"
    # Of providers, by how their keys begin.
    r"(?:[sr]k[-_]|tvly-|gh[pousr]_|github_pat_|glpat-|hf_|AIza|xox[abeprs]-|eyJ)"
    r"(?:[A-Za-z\d]+[-_])*(?=[A-Za-z]*\d)[A-Za-z\d]{12,}"
    r"|A(?:KIA|SIA)[\dA-Z]{12,}"
    # A UUID, as addresses of one's own have it.
    r"|[\dA-Fa-f]{8}(?:-[\dA-Fa-f]{4}){3}-[\dA-Fa-f]{12})(?![A-Za-z\d])"
)
_RUN = re.compile(r"(?<![A-Za-z\d])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z\d]{12,}")
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_WORD = re.compile(r"(?=.*[aeiouy])(?!.*[^aeiouy]{5})[a-z]{4,}|\d{4,}", re.IGNORECASE)
"""One that can be spoken, or a number such as a year."""
_BETWEEN_DIGITS = re.compile(r"[a-z]\d+(?!x\d)[a-z]{1,2}\d+[a-z]", re.IGNORECASE)
"""A letter or two between digits amid letters; not the x of a size such as 8x7."""
_SCATTERED = 16
"""Letters and digits; a shorter run may be a name with little of words (`gpt4turbo2024a`), and is a key only
where one or two letters alternate with one or two digits."""
_LONG = 32
"""Letters and digits; by chance a key of so many is not nearly all words."""


def looks_like_a_key(value: str) -> bool:
    """Whether a key may stand in `value`: one that begins as a provider's do, a UUID, or a run of letters and
    digits that makes no words and numbers."""
    return bool(_KNOWN.search(value)) or any(map(_is_random, _RUN.findall(value)))


def _is_random(run: str) -> bool:
    pieces = _PIECE.findall(run)
    if 2 * len(pieces) < len(run) < _SCATTERED:
        return False
    words = sum(len(piece) for piece in pieces if _WORD.fullmatch(piece))
    share = 0.75 if len(run) >= _LONG else 0.6
    return bool(words < share * len(run) or _BETWEEN_DIGITS.search(run))
