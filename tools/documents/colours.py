"""Names of colours, for documents whose text gives a colour a meaning: 'red prices are provisional'."""

from __future__ import annotations

import colorsys
import re

_WORDS = {
    "red": r"red|rot(?:e[nmrs]?)?|rouges?|roj[oa]s?", "orange": r"orange\w*|naranjas?",
    "yellow": r"yellow|gelb\w*|jaunes?|amarill[oa]s?", "green": r"green|grün\w*|verte?s?|verdes?",
    "blue": r"blue|blau\w*|bleue?s?|azul(?:es)?", "purple": r"purple|violet\w*|lila|morad[oa]s?",
}  # fmt: skip
_HUES = (
    (20, "red"),
    (45, "orange"),
    (70, "yellow"),
    (165, "green"),
    (260, "blue"),
    (330, "purple"),
    (360, "red"),
)


def colours_in(text: str) -> set[str]:
    """The colours that a text names."""
    return {colour for colour, words in _WORDS.items() if re.search(rf"\b(?:{words})\b", text, re.IGNORECASE)}


def colour_name(red: int, green: int, blue: int) -> str:
    """The name of a bright colour; '' for black, white, grey and similar ones."""
    hue, light, strength = colorsys.rgb_to_hls(red / 255, green / 255, blue / 255)
    if strength < 0.4 or not 0.15 < light < 0.95:
        return ""
    return next(name for end, name in _HUES if hue * 360 <= end)


def hex_name(code: str | None) -> str:
    """The same for six hexadecimal digits; '' for anything else."""
    if not code or not re.fullmatch(r"#?[0-9A-Fa-f]{6}", code):
        return ""
    return colour_name(*bytes.fromhex(code[-6:]))
