"""How far a reply has come, for a person who waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from forethought.models.types import Listener

EVERY_S = 0.5
"""Seconds between two reports."""
_CHARS_PER_TOKEN = 4


def with_progress(listener: Listener | None, report: Callable[..., Any], role: str) -> Listener:
    """A listener that reports tokens and tokens per second, and passes the text on to `listener`.

    Both figures are estimates: servers count tokens only at the end.
    """
    began = last = 0.0

    async def hear(text: str) -> None:
        nonlocal began, last
        now = time.monotonic()
        began = began or now
        if now - last >= EVERY_S:
            last, tokens = now, len(text) // _CHARS_PER_TOKEN
            speed = round(tokens / (now - began), 1) if now > began else 0.0
            report("writing", role=role, tokens=tokens, per_second=speed)
        if listener:
            await listener(text)

    return hear
