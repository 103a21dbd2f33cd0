"""Prompts that fit the window: the longest material is cut, and a note in it says so."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from forethought.models.types import Message
from forethought.sizes import BYTES_PER_TOKEN, extent
from forethought.text import cut

_BLOCK = re.compile(r"(<(\w+)(?: [^\n>]*)?>\n)(.*?)(\n</\2>)", re.DOTALL)
"""A block of material or of the task between tags (`forethought.text.fence`)."""
_LEAST = 200
"""Bytes that a block keeps at least."""
_NOTE = 100
"""Bytes of the note on a cut, roughly."""
_TOO_LONG = re.compile(r"context.(length|size|window)|prompt is too long|too many tokens", re.IGNORECASE)
_TOLD = re.compile(
    r"(?:context length is|context size|context length of only|context window of)\D{0,4}(\d{3,7})",
    re.IGNORECASE,
)
"""The window, in the words of OpenAI and vLLM, llama.cpp, and LM Studio."""


def told_window(refusal: str, window: int) -> int | None:
    """The window that a refusal of a long prompt names, at most `window`; None if it is another refusal."""
    if not _TOO_LONG.search(refusal):
        return None
    found = _TOLD.search(refusal)
    return min(int(found[1]), window) if found else window


def fit(
    messages: Sequence[Message], schema: Mapping[str, Any], window: int, reply: int
) -> tuple[tuple[Message, ...], int]:
    """The messages within `window` tokens, together with the schema and `reply` tokens.

    Args:
        messages: The prompt.
        schema: The reply's schema.
        window: Tokens of the model's context.
        reply: Tokens kept for the reply.

    Returns:
        The messages, and how many of their bytes are left out.

    Raises:
        ValueError: Nothing is left to cut, and the prompt is still too long.
    """
    room = (window - reply) * BYTES_PER_TOKEN - len(json.dumps(schema))
    sizes = [extent(message.text) for message in messages]
    if sum(sizes) <= room:
        return tuple(messages), 0
    blocks = [extent(match[3]) for message in messages for match in _BLOCK.finditer(message.text)]
    limit = _limit(blocks, sum(sizes) - room)
    if limit < _LEAST:
        fixed = (sum(sizes) - sum(blocks)) // BYTES_PER_TOKEN
        raise ValueError(f"the prompt takes {fixed:,} tokens without material, and the window has {window:,}")
    short = tuple(replace(m, text=_BLOCK.sub(lambda b: _cut(b, limit), m.text)) for m in messages)
    return short, sum(sizes) - sum(extent(message.text) for message in short)


def _limit(blocks: Sequence[int], over: int) -> int:
    """The length to which the longest blocks are cut, so that `over` bytes go."""
    sizes = sorted(blocks, reverse=True)
    for count in range(1, len(sizes) + 1):
        over += _NOTE
        below = sizes[count] if count < len(sizes) else 0
        if (freed := sum(sizes[:count]) - count * below) >= over:
            return below + (freed - over) // count
    return 0


def _cut(block: re.Match[str], limit: int) -> str:
    """A block whose text takes `limit` bytes."""
    text, size = block[3], extent(block[3])
    short = text if size <= limit else cut(text, max(limit * len(text) // size, 1))
    return f"{block[1]}{short}{block[4]}"
