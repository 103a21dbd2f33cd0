"""Reading the state in a node that was started by a Send.

A Send carries only ids, since payloads are stored twice in every checkpoint; the node reads the rest itself,
as LangGraph's own ToolNode does. The reader is private to LangGraph, so it is used here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig

_READ = "__pregel_read"


def read_state(config: RunnableConfig, keys: Sequence[str]) -> Any:
    """The channels `keys` as they stood before this superstep; a channel never written is absent.

    They are the live values, as in every node's state: a node changes none of them.
    """
    return config["configurable"][_READ](list(keys))
