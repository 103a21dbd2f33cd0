"""Model replies in the journal: what a task was told before it was broken off is not asked and paid again."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal, cast

from forethought.journal import current
from forethought.models.record import digest, logical
from forethought.models.types import Call, ModelReply, ModelRequest

Json = dict[str, Any]
Finish = Literal["stop", "length", "refusal"]


async def sent_once(
    request: ModelRequest, send: Callable[[ModelRequest], Awaitable[ModelReply]]
) -> tuple[ModelReply, float]:
    """The reply to `request` and the seconds that it took: the one that the task already got, or else what
    `send` gives, kept. Nothing of `request` or of the reply may be secret any more.

    Requests are told apart by their content, and equal ones of a task by their order. Raises what `send`
    raises; an error is not kept.
    """
    journal = current()
    name = digest([request.model, logical(request, str)])
    key = f"reply {name} {journal.nth(name)}"
    kept = (await journal.entries()).get(key)
    found = _from_json(kept) if kept is not None else None
    if found is not None:
        return found
    started = time.monotonic()
    got = await send(request)
    seconds = time.monotonic() - started
    await journal.write(key, _as_json(got, seconds))
    return got, seconds


def _as_json(got: ModelReply, seconds: float) -> Json:
    return {
        "text": got.text,
        "calls": [[call.name, call.arguments] for call in got.calls],
        "finish_reason": got.finish_reason,
        "tokens": [got.input_tokens, got.output_tokens, got.cached_tokens],
        "model": got.model,
        "usd": got.usd,
        "seconds": seconds,
    }


def _from_json(kept: Json) -> tuple[ModelReply, float] | None:
    """The reply; None for an entry that was damaged, so that the model is asked again."""
    try:
        tokens: list[Any] = [int(count) for count in kept["tokens"]]
        reply = ModelReply(
            text=str(kept["text"]),
            calls=tuple(Call(str(name), str(arguments)) for name, arguments in kept["calls"]),
            finish_reason=cast(Finish, str(kept["finish_reason"])),
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            cached_tokens=tokens[2],
            model=str(kept["model"]),
            usd=None if kept["usd"] is None else float(kept["usd"]),
        )
        return reply, float(kept["seconds"])
    except (KeyError, IndexError, TypeError, ValueError):
        return None
