"""Conditional edges that are taken together with their node's update, or not at all.

LangGraph writes a node's update, then asks the condition in a thread, then writes the edge. A task that is
cancelled in between (a sibling failed, the client left) is saved with its update alone and counts as done:
the thread then has no next node, or a step without an executor. A condition that never gives way to the event
loop leaves no moment in between, whatever checkpointer keeps the thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.runnables import RunnableConfig, RunnableLambda


class _AtOnce(RunnableLambda[Any, Any]):
    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return self.invoke(input, config, **kwargs)


def at_once(condition: Callable[[Any], Any]) -> RunnableLambda[Any, Any]:
    """`condition`, a quick pure function of the state, for `add_conditional_edges`."""
    return _AtOnce(condition)
