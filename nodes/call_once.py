"""A tool call is made once, however often its step is broken off and gone on with.

Its intent is in the task's journal before it is made, its outcome after. When the step runs again, an outcome
that is known is taken as it is, whatever the tool. A call without one is made again if the tool only reads;
if it may have changed something, nobody knows whether it did, so the person is asked: it happened, do it
again, or give up. What it had asked of models by then is paid for, and booked once, with what comes of it.
So that few are broken off, a call that has begun comes to its end when the graph is to stop. Not kept is only
what a person said (`ask_user`): asked again, what they say then counts.

LangGraph keeps a person's replies by their order within a task, and a step that was killed may find the reply
to an earlier question held for its first one. So the last attempt that was broken off is asked of in every
run of the step, before the tool can ask anything: that question takes its own words only, and what else is
held goes by. A call that a person has approved has their word in its intent: broken off, it is not put to
them again, and is made again with that word if it may be. Once a reply is acted upon, the thread neither
waits for it nor holds it any more: whoever looks at it after a kill sees no question that is settled, and no
other question is given its reply.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from langgraph.errors import GraphInterrupt

from forethought.journal import current
from forethought.models.allowance import Allowance
from forethought.models.once import asked_by, unclaimed
from forethought.nodes.attempts import Attempts, Made, as_entry, entry_key
from forethought.shutdown import finish_when_stopping
from forethought.tools.base import Tool

Json = dict[str, Any]


@dataclass(frozen=True)
class Unknown:
    """A call that was broken off, so that nobody knows whether it took effect; the `attempt`th, from 1."""

    tool: Tool
    arguments: Json
    attempt: int


Settle = Callable[[Unknown], "Made | None"]
"""What a person says of it (an interrupt): what came of it, or None to make the call again."""


def decided(tool: Tool, attempts: Attempts) -> bool:
    """Whether nothing is to be decided of the call any more but what came of it, or comes of it."""
    return attempts.outcome is not None or (attempts.open > 0 and _binds(tool, attempts.intent))


def _binds(tool: Tool, intent: Json) -> bool:
    """Whether a call must not be taken for one that was never begun: it may have changed something, or a
    person was asked for it."""
    return not tool.repeatable or bool(intent.get("word"))


async def call_once(
    tool: Tool,
    arguments: Json,
    attempts: Attempts,
    allowance: Allowance,
    make: Callable[[], Awaitable[Made]],
    settle: Settle | None = None,
    intent: Json | None = None,
) -> Made:
    """What comes, or came, of a call, and what it cost, which is booked in `allowance` as well. `make` makes
    it, and books there what it spends; `settle` is asked where nobody knows what came of a call that changes
    something (without it, such a call is made again); `intent` is kept with each attempt.

    Raises what `make` and `settle` raise (interrupts, recordings that lack a reply, cancellation).
    """

    async def keep(attempt: int, part: str, value: Json) -> None:
        binds = _binds(tool, intent or {})
        if settle is not None and (part == "outcome" or binds):
            await current().answered()
        await current().write(entry_key(attempts.name, attempt, part), value, effect=binds)

    if tool.timeout_s == 0 and tool.effect == "read":  # it waits for a person
        return await make()
    if attempts.outcome is not None:
        allowance.used.extend(attempts.outcome.inspected)
        allowance.paid.extend(attempts.outcome.paid)
        return attempts.outcome
    if attempts.open and settle is not None and not tool.repeatable:
        settled = settle(Unknown(tool, arguments, attempts.open))
        if settled is not None:
            settled = replace(settled, inspected=await unclaimed(attempts.name))
            allowance.used.extend(settled.inspected)
            await keep(attempts.open, "outcome", as_entry(settled, 0.0))
            return settled
    attempt = attempts.last + 1
    await keep(attempt, "intent", {"tool": tool.name, **(intent or {})})
    started, inspected, paid = time.monotonic(), len(allowance.used), len(allowance.paid)
    try:
        with asked_by(attempts.name), finish_when_stopping():
            made = await make()
    except GraphInterrupt:
        # The tool asks the person something, before it does anything.
        await keep(attempt, "asks", {})
        raise
    allowance.used.extend(await unclaimed(attempts.name))
    made = replace(made, inspected=allowance.used[inspected:], paid=allowance.paid[paid:])
    await keep(attempt, "outcome", as_entry(made, time.monotonic() - started))
    return made
