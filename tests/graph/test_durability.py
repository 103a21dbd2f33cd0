"""With every durability that a run can be resumed from, what is kept at an effect tells of it."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig

from forethought.graph.agent import build_agent
from forethought.settings import Settings
from forethought.tools.base import make_tool
from tests.support.crashes import Answers, Moment, Seen, Witness
from tests.support.paying import CONFIG, CONTEXT, TASK, World, name, reply, to_the_end


class Slow(Witness):
    """Its checkpoints are on their way for a while, and its other writes are not."""

    async def aput(self, config: RunnableConfig, *rest: Any) -> RunnableConfig:
        """See InMemorySaver."""
        await asyncio.sleep(0.03)
        return await super().aput(config, *rest)


@pytest.mark.parametrize("durability", ["sync", "async"])
async def test_killed_right_after_an_effect_the_thread_asks_also_while_its_checkpoint_was_on_its_way(
    settings: Callable[..., Settings], durability: Any
) -> None:
    seen = Seen()
    saver = Slow(seen)
    left: list[Moment] = []

    async def pay(what: str) -> str:
        """Pay something.

        Args:
            what: What to pay.
        """
        seen.effects.append(what)
        left.append(Moment(saver.left(), copy.deepcopy(seen)))
        return "paid"

    tools = [make_tool(pay, effect="write"), World(seen, settings()).tools()[1]]
    transport = Answers(reply, name, seen)
    graph: Any = build_agent(tools=tools, settings=settings(), checkpointer=saver, transport=transport)
    await graph.ainvoke(TASK, CONFIG, context=CONTEXT, durability=durability)

    (moment,) = left
    state, replies = await to_the_end(World(moment.seen, settings()).graph(moment.saver), moment.seen)
    assert (state["status"], replies, len(moment.seen.effects)) == ("answered", ["it happened"], 1)
