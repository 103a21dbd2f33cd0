"""Model replies in the journal: what a task was told before it was broken off is not asked and paid again,
and what a tool's call was told before it was broken off is known to have been paid."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from forethought.journal import current
from forethought.models.allowance import count
from forethought.models.record import digest, logical
from forethought.models.types import Call, Finish, ModelReply, ModelRequest, Usage, no_usage

Json = dict[str, Any]
_caller: ContextVar[str] = ContextVar("caller", default="")


@contextmanager
def asked_by(call: str) -> Iterator[None]:
    """What is asked of models meanwhile is asked by the tool's call of that name in the journal."""
    token = _caller.set(call)
    try:
        yield
    finally:
        _caller.reset(token)


async def unclaimed(call: str) -> list[Usage]:
    """What the replies cost that `call` was given before it was broken off, and that this run of the task has
    not been given again."""
    own = [value for key, value in (await current().entries()).items() if not _claimed(key)]
    return [*_costs(own, call), *await left_behind(call)]


async def left_behind(call: str) -> list[Usage]:
    """What the replies cost that `call` was given by a task that this one takes the place of. Each is told
    once in a run of the task, so that nobody else books it."""
    journal = current()
    kept = (await journal.inherited()).items()
    found = [(key, value) for key, value in kept if value.get("by") == call]
    return _costs([value for key, value in found if journal.nth(f"left {key}") == 0], call)


def _costs(entries: list[Json], call: str) -> list[Usage]:
    replies = [_from_json(value) for value in entries if value.get("by") == call]
    return [_cost(*reply) for reply in replies if reply is not None]


def _claimed(key: str) -> bool:
    """Whether the reply that is kept under `key` was asked for in this run of the task."""
    kind, _, numbered = key.partition(" ")
    name, _, number = numbered.rpartition(" ")
    return kind != "reply" or not number.isdigit() or int(number) < current().counted(name)


def _cost(reply: ModelReply, seconds: float) -> Usage:
    usage = no_usage()
    count(usage, reply, seconds)
    return usage


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
    await journal.write(key, {**_as_json(got, seconds), "by": _caller.get()})
    return got, seconds


def _as_json(got: ModelReply, seconds: float) -> Json:
    return {
        "text": got.text,
        "calls": [[call.name, call.arguments] for call in got.calls],
        "finish_reason": got.finish_reason,
        "tokens": [got.input_tokens, got.output_tokens, got.cached_tokens],
        "ended": got.ended,
        "model": got.model,
        "usd": got.usd,
        "seconds": seconds,
        **({"estimated": True} if got.estimated else {}),
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
            ended=str(kept.get("ended", "")),
            estimated=kept.get("estimated") is True,
        )
        return reply, float(kept["seconds"])
    except (KeyError, IndexError, TypeError, ValueError):
        return None
