"""How many tokens a text has, roughly: no tokenizer is known for every model."""

from __future__ import annotations

import math

_ASCII_CHARS = 3.5
"""A token's characters in English, code and JSON."""
_OTHER_BYTES = 2.5
"""A token's bytes (UTF-8) in other scripts: 1.2 tokens a Chinese, Japanese or Korean character, 0.8 a
Cyrillic one, as byte-level vocabularies of 100,000 tokens cut them."""


def estimate_tokens(text: str) -> int:
    """The tokens of `text`, on the high side for most models."""
    whole = len(text.encode("utf-8", "surrogatepass"))
    ascii_only = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_only / _ASCII_CHARS + (whole - ascii_only) / _OTHER_BYTES)
