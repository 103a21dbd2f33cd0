"""Reading the state in a node that was started by a Send.

A Send carries only ids, since payloads are stored twice in every checkpoint; the node reads the rest itself,
as LangGraph's own ToolNode does. The reader is private to LangGraph, so it is used here and nowhere else. It
returns live objects: they are copied.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig

from forethought.state.agent import AgentState

_READ = "__pregel_read"


def read_state(config: RunnableConfig, keys: Sequence[str], *, copied: bool = True) -> AgentState:
    """The channels `keys` as they stood before this superstep; a channel never written is absent.

    They are copied, unless the caller makes something of its own of them at once (`copied=False`). Of the
    trajectory, the results and the plan only the lists and dicts that hold the records are: the records
    themselves nobody changes, and in a long run there are many.
    """
    found = config["configurable"][_READ](list(keys))
    if not copied:
        return cast(AgentState, found)
    return cast(AgentState, {name: _COPY.get(name, copy.deepcopy)(value) for name, value in found.items()})


def _one_deeper(value: Any) -> Any:
    """A copy of `value` with a copy of each part that it has."""
    if not isinstance(value, dict):  # as a client may have left it
        return copy.deepcopy(value)
    return {name: copy.copy(part) for name, part in value.items()}


_COPY: dict[str, Callable[[Any], Any]] = {
    "trajectory": copy.copy,
    "results": copy.copy,
    "plan": _one_deeper,
}
