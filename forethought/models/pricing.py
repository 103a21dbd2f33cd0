"""What a call costs, in tokens and in dollars: nothing is looked up on the network."""

from __future__ import annotations

import math
from urllib.parse import urlsplit

_ASCII_CHARS = 3.5
"""A token's characters in English, code and JSON."""
_OTHER_BYTES = 2.5
"""A token's bytes (UTF-8) in other scripts: 1.2 tokens a Chinese, Japanese or Korean character, 0.8 a
Cyrillic one, as byte-level vocabularies of 100,000 tokens cut them."""
_PRICED_AS = {
    "google_genai": "google",
    "google_vertexai": "google",
    "azure_openai": "azure",
    "mistralai": "mistral",
    "bedrock": "aws",
    "bedrock_converse": "aws",
    "xai": "x-ai",
}
"""Provider names where LangChain's and the price list's differ."""


def price(
    model: str, provider: str, base_url: str | None, input_tokens: int, output_tokens: int, cached_tokens: int
) -> float | None:
    """Dollars of one call by genai-prices, or None where no price is known (never 0 for want of one).

    With a `base_url` only the address tells whose prices hold: the name of a model says nothing about who
    serves it. A server on this machine has no price, and the list, of 60 MB while it loads, is not loaded.
    """
    from forethought.models.dead_ends import is_loopback  # loads langgraph, which `--help` can do without

    if base_url and is_loopback(urlsplit(base_url).hostname or ""):
        return None
    from genai_prices import Usage, calc_price

    used = Usage(input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=cached_tokens)
    try:
        if base_url:
            return float(calc_price(used, model, provider_api_url=base_url).total_price)
        return float(calc_price(used, model, provider_id=_PRICED_AS.get(provider, provider)).total_price)
    except LookupError:
        return None


def saved_tokens(
    model: str, provider: str, base_url: str | None, input_tokens: int, cached_tokens: int
) -> int:
    """How many of `input_tokens` the lower price of `cached_tokens` saves; 0 where no price is known."""
    whole = price(model, provider, base_url, input_tokens, 0, 0) if cached_tokens else None
    paid = price(model, provider, base_url, input_tokens, 0, cached_tokens)
    return round(input_tokens * (1 - paid / whole)) if whole and paid is not None else 0


def estimate_tokens(text: str) -> int:
    """The tokens of `text`, on the high side for most models: no tokenizer is known for every one."""
    whole = len(text.encode("utf-8", "surrogatepass"))
    ascii_only = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_only / _ASCII_CHARS + (whole - ascii_only) / _OTHER_BYTES)
