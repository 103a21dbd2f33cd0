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


def read_state(config: RunnableConfig, keys: Sequence[str], *, copied: bool = True) -> AgentState:
    """The channels `keys` as they stood before this superstep; a channel never written is absent.

    They are copied, unless the caller makes something of its own of them at once (`copied=False`).
    """
    found = config["configurable"][_READ](list(keys))
    return cast(AgentState, copy.deepcopy(found) if copied else found)
