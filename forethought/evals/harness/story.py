"""What an agent does, told in inspect's transcript: an event for each node of its graph, with what it wrote.

So a step's thought, tool, arguments, score and observation stand beside the model calls that they came of.
Every graph that runs in the sample's context is heard, ours and the baselines' alike: LangChain looks for a
handler in the context variable below when a graph starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from inspect_ai.log import transcript
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.tracers.context import register_configure_hook

from forethought.text import cut

_LONGEST = 4_000
"""Characters of a text; all of it is in the trajectory."""
_NOT_TOLD = frozenset({"messages", "usage", "progress"})
"""Channels that repeat what is told anyway."""

_EMPTY: tuple[Any, ...] = (None, "", [], {})


class _Nodes(AsyncCallbackHandler):
    """Tells what each node of a graph wrote."""

    ignore_llm = ignore_chat_model = ignore_agent = ignore_retriever = True

    def __init__(self) -> None:
        self._running: dict[UUID, str] = {}

    async def on_chain_start(
        self,
        serialized: dict[str, Any],
        inputs: dict[str, Any],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """Remember a node; what runs within it bears its name in the metadata, but has another of its own."""
        node = (metadata or {}).get("langgraph_node")
        if node and more.get("name") == node:
            self._running[run_id] = node

    async def on_chain_end(self, outputs: dict[str, Any], *, run_id: UUID, **more: Any) -> None:
        """Tell what the node wrote."""
        if node := self._running.pop(run_id, None):
            transcript().info(shortened(outputs), source=node)

    async def on_chain_error(self, error: BaseException, *, run_id: UUID, **more: Any) -> None:
        """A node that failed: the sample's error says why."""
        self._running.pop(run_id, None)


_HANDLER: ContextVar[_Nodes | None] = ContextVar("forethought_story", default=None)
register_configure_hook(_HANDLER, inheritable=True)


@contextmanager
def telling() -> Iterator[None]:
    """While it lasts, the graphs that run in this context tell what their nodes do."""
    token = _HANDLER.set(_Nodes())
    try:
        yield
    finally:
        _HANDLER.reset(token)


def shortened(value: Any) -> Any:
    """Plain JSON of a node's update: long texts cut; what is empty or told elsewhere left out."""
    if isinstance(value, str):
        return cut(value, _LONGEST, tail=0)
    if isinstance(value, Mapping):
        told = {str(key): item for key, item in value.items() if key not in _NOT_TOLD}
        return {key: shortened(item) for key, item in told.items() if item not in _EMPTY}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [shortened(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float) else shortened(str(value))
