"""A reply while it comes: who hears of it, how long to wait for more, and when to stop it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from forethought.models.types import Listener

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

RUNAWAY = "runaway"
"""The finish reason of a reply that was stopped here."""
_REPEATED, _TIMES, _SEEN = 200, 3, 3_000
"""Characters, how often, and within how many of the last."""
_CHARS_PER_TOKEN = 10
"""More than any text has: a server that writes more ignores the limit."""


async def listen(
    stream: Callable[[], AsyncGenerator[Any]], listener: Listener | None, limit: int, patience_s: float
) -> AIMessage:
    """The reply, stopped if it repeats itself or goes far beyond its limit.

    Args:
        stream: Begins the reply.
        listener: Is told the text so far.
        limit: Tokens that the reply may have; 0: any number.
        patience_s: Seconds to wait for the first piece, and for each next one.

    Returns:
        The whole reply, or its beginning if it was stopped.

    Raises:
        TimeoutError: No more of it came in time.
    """
    from langchain_core.messages import AIMessageChunk, message_chunk_to_message
    from langchain_core.messages.ai import add_ai_message_chunks

    chunks, text, checked = list[Any](), "", 0
    now = asyncio.get_running_loop().time
    async with asyncio.timeout(patience_s) as clock, aclosing(stream()) as pieces:
        async for chunk in pieces:
            clock.reschedule(now() + patience_s)
            if not isinstance(chunk, AIMessageChunk):  # of a model that does not stream
                return chunk  # type: ignore[no-any-return]
            chunks.append(chunk)
            if more := chunk.text or "".join(call["args"] or "" for call in chunk.tool_call_chunks):
                text += more
                if listener:
                    await listener(text)
            if len(text) >= checked + _REPEATED // 2:
                checked = len(text)
                if runs_away(text, limit):
                    chunks.append(AIMessageChunk(content="", response_metadata={"finish_reason": RUNAWAY}))
                    break
    reply: Any = message_chunk_to_message(add_ai_message_chunks(*chunks))
    return reply  # type: ignore[no-any-return]


def runs_away(text: str, limit: int = 0) -> bool:
    """Whether the end of `text` stands there three times, or `text` is far beyond `limit` tokens."""
    if limit and len(text) > limit * _CHARS_PER_TOKEN:
        return True
    return len(text) >= _REPEATED * _TIMES and text[-_SEEN:].count(text[-_REPEATED:]) >= _TIMES
