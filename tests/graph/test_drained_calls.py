"""SIGTERM while a tool's call waits to ask a model again: the call has begun, and comes to its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from forethought.graph.agent import build_agent
from forethought.models.types import ModelReply, ModelRequest
from forethought.settings import Settings
from forethought.shutdown import Halt, Shutdown, sleep_unless_stopping
from forethought.tools.base import ToolEnv, make_tool
from tests.support.crashes import Answers, Seen
from tests.support.paying import CONFIG, CONTEXT, TASK
from tests.support.replies import answer, call, diagnosis, plan, sub

Json = dict[str, Any]


@dataclass
class Throttled(Answers):
    """Models of which the one that reads for a tool wants to be asked again later; the SIGTERM comes then."""

    drain: Shutdown

    async def send(self, request: ModelRequest) -> ModelReply:
        """See `Transport`."""
        if request.reply == "DocumentAnswer" and not self.drain.requested:
            self.drain.request()
            await sleep_unless_stopping(0.3)
        return await super().send(request)


@pytest.mark.parametrize("by", ["model", "program"])
async def test_a_call_that_has_begun_comes_to_its_end_and_nobody_is_asked_about_it(
    settings: Callable[..., Settings], by: str
) -> None:
    seen, drain = Seen(), Shutdown()
    replies: dict[str, Json] = {
        "Plan": plan(sub("pay")),
        "PlanDiagnosis": diagnosis(),
        "AnswerDraft": answer("done"),
        "DocumentAnswer": {"brief": "it is due"},
    }
    proposed = (
        call(tool="pay", what="rent") if by == "model" else call(tool="python", code="print(pay('rent'))")
    )

    async def pay(env: ToolEnv, what: str) -> str:
        """Pay something.

        Args:
            what: What to pay.
        """
        assert env.inspect is not None
        await env.inspect("Is it due?", "the bill", "bill")
        seen.effects.append(what)
        return f"paid {what}"

    transport = Throttled(
        lambda request: replies.get(request.reply, proposed), lambda request: request.reply, seen, drain
    )
    graph: Any = build_agent(
        # A program may call only what reads.
        tools=[make_tool(pay, effect="write" if by == "model" else "read")],
        settings=settings(),
        checkpointer=InMemorySaver(),
        transport=transport,
    )
    run = graph.ainvoke(TASK, CONFIG, context=CONTEXT, durability="sync", control=drain.control)
    with pytest.raises(Halt) as drained:
        await drain.finish(run, 60)
    assert not drained.value.broken_off
    assert seen.effects == ["rent"]
    await graph.ainvoke(None, CONFIG, context=CONTEXT, durability="sync")
    state = await graph.aget_state(CONFIG)
    assert (state.interrupts, state.values["status"]) == ((), "answered")
    assert [step["ok"] for step in state.values["trajectory"]] == [True]
    assert (seen.effects, seen.asked.count("DocumentAnswer")) == (["rent"], 1)
