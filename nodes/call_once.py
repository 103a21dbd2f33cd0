"""A tool call is made once, however often its step is broken off and gone on with.

Its intent is in the task's journal before it is made, its outcome after. When the step runs again, an outcome
that is known is taken as it is, whatever the tool. A call without one is made again if the tool only reads;
if it may have changed something, nobody knows whether it did, so the person is asked: it happened, do it
again, or give up. Not kept is only what a person said (`ask_user`): asked again, what they say then counts.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from langgraph.errors import GraphBubbleUp

from forethought.journal import current
from forethought.models.record import digest
from forethought.models.types import Usage
from tools.base import Observation, Tool
from tools.call import normalise

Json = dict[str, Any]


@dataclass(frozen=True)
class Made:
    """What came of a call, and what it took."""

    observation: Observation
    sub_steps: list[Json] = field(default_factory=list)
    """The calls that a program made."""
    inspected: list[Usage] = field(default_factory=list)
    """What models cost that it asked."""
    paid: list[Usage] = field(default_factory=list)
    """What else the tool paid for."""
    seconds: float = 0.0
    """How long it took before this run of the step; 0 where it was made in it."""
    by_person: bool = False
    """Whether it is a person's word on a call that was broken off."""
    kept: bool = False
    """Whether it was made before this run of the step."""


@dataclass(frozen=True)
class Unknown:
    """A call that was broken off, so that nobody knows whether it took effect; the `attempt`th, from 1."""

    tool: Tool
    arguments: Json
    attempt: int


Settle = Callable[[Unknown], "Made | None"]
"""What a person says of it (an interrupt): what came of it, or None to make the call again."""


def call_id(tool: Tool, arguments: Json, place: str) -> str:
    """A call's name in the journal: where it stands in the thread (`place`) and what is called, so that an
    edited call is another one."""
    return f"call {place} {tool.name} {digest(normalise(tool, arguments))}"


def repeatable(tool: Tool) -> bool:
    """Whether a call may be made again when nobody knows how far it came: it changes nothing. What is sent
    out changes nothing where the tool says that it may be sent twice."""
    return tool.effect == "read" or (tool.effect == "egress" and tool.retryable)


async def call_once(
    tool: Tool, name: str, arguments: Json, make: Callable[[], Awaitable[Made]], settle: Settle | None = None
) -> Made:
    """What comes, or came, of the call `name` (see `call_id`). `make` makes it; `settle` is asked where
    nobody knows what came of a call that changes something (without it, such a call is made again).

    Raises what `make` and `settle` raise (interrupts, recordings that lack a reply, cancellation).
    """
    journal = current()
    if tool.timeout_s == 0 and tool.effect == "read":  # it waits for a person
        return await make()
    attempts = _read(name, await journal.entries())
    if not attempts.last and not repeatable(tool):
        before = _read(name, await journal.inherited())
        attempts = before if before.open else attempts
    if attempts.outcome is not None:
        return attempts.outcome
    if attempts.open and settle is not None and not repeatable(tool):
        settled = settle(Unknown(tool, arguments, attempts.last))
        if settled is not None:
            return settled
    attempt = attempts.last + 1
    await journal.write(_key(name, attempt, "intent"), {"tool": tool.name})
    started = time.monotonic()
    try:
        made = await make()
    except GraphBubbleUp:
        # The tool asks the person something, before it does anything.
        await journal.write(_key(name, attempt, "asks"), {})
        raise
    seconds = time.monotonic() - started
    await journal.write(_key(name, attempt, "outcome"), asdict(replace(made, seconds=seconds, kept=True)))
    return made


@dataclass(frozen=True)
class _Attempts:
    last: int
    """Number of the last attempt; 0: none."""
    open: bool = False
    """Whether it is not known what came of it."""
    outcome: Made | None = None


def _read(name: str, entries: Mapping[str, Json]) -> _Attempts:
    last = 0
    while _key(name, last + 1, "intent") in entries:
        last += 1
    outcome = _made(entries.get(_key(name, last, "outcome")))
    asks = _key(name, last, "asks") in entries
    return _Attempts(last, open=bool(last) and outcome is None and not asks, outcome=outcome)


def _key(name: str, attempt: int, part: str) -> str:
    return f"{name} {attempt} {part}"


def _made(kept: Json | None) -> Made | None:
    """A kept outcome; None for one that was damaged: then it is not known."""
    if kept is None:
        return None
    try:
        made = Made(**{**kept, "observation": Observation(**kept["observation"])})
    except (KeyError, TypeError):
        return None
    lists = (made.sub_steps, made.inspected, made.paid)
    sound = isinstance(made.observation.text, str) and all(isinstance(item, list) for item in lists)
    return made if sound else None
