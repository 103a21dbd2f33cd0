"""Reading the state in a node that was started by a Send.

A Send carries only ids, since payloads are stored twice in every checkpoint; the node reads the rest itself,
as LangGraph's own ToolNode does. The reader is private to LangGraph, so it is used here and nowhere else. It
returns live objects: they are copied.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import cast

from langchain_core.runnables import RunnableConfig

from graph.state import AgentState

_READ = "__pregel_read"
_RECORDS = ("trajectory", "results")


def read_state(config: RunnableConfig, keys: Sequence[str], *, copied: bool = True) -> AgentState:
    """The channels `keys` as they stood before this superstep; a channel never written is absent.

    They are copied, unless the caller makes something of its own of them at once (`copied=False`). Of the
    trajectory and the results only the list and the dict are: what stands in them are records that nobody
    changes, and in a long run there are many.
    """
    found = config["configurable"][_READ](list(keys))
    if not copied:
        return cast(AgentState, found)
    records = {name: copy.copy(found[name]) for name in _RECORDS if name in found}
    others = {name: value for name, value in found.items() if name not in records}
    return cast(AgentState, {**copy.deepcopy(others), **records})
