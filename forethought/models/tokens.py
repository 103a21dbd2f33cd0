"""How many tokens a text, a request or a reply has, roughly: no tokenizer is known for every model."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from forethought.models.types import Call, ModelRequest

_ASCII_CHARS = 3.5
"""A token's characters in English, code and JSON."""
_OTHER_BYTES = 2.5
"""A token's bytes (UTF-8) in other scripts: 1.2 tokens a Chinese, Japanese or Korean character, 0.8 a
Cyrillic one, as byte-level vocabularies of 100,000 tokens cut them."""
TOKENS_AN_IMAGE = 1_000


def estimate_tokens(text: str) -> int:
    """The tokens of `text`, on the high side for most models."""
    whole = len(text.encode("utf-8", "surrogatepass"))
    ascii_only = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_only / _ASCII_CHARS + (whole - ascii_only) / _OTHER_BYTES)


def request_tokens(request: ModelRequest) -> int:
    """The tokens of what is sent: messages, pictures, and the shape of the reply or the functions."""
    shape = [request.schema] if not request.functions else []
    offered = [[f.name, f.description, f.parameters] for f in request.functions]
    said = "".join(message.text for message in request.messages)
    images = sum(len(message.images) for message in request.messages)
    described = json.dumps([*shape, *offered], ensure_ascii=False)
    return estimate_tokens(said + described) + images * TOKENS_AN_IMAGE


def reply_tokens(text: str, calls: Sequence[Call]) -> int:
    """The tokens of what came; what a model thought and did not show is not known."""
    return estimate_tokens("".join([text, *(call.name + call.arguments for call in calls)]))
