"""A graph that takes from clients (of a server, Studio, a fork) only what they may write.

See `client_writes`: a plan or a proposal may be edited from outside of a run. What a run is bounded by may
not: else the operator's budgets (`forethought.state.context`) would be what a client says has been spent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Self

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import InvalidUpdateError
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot, StateUpdate
from langgraph.typing import ContextT, InputT, OutputT, StateT

from forethought.graph.chat_reply import chat_reply
from forethought.graph.client_writes import (
    UpdateError,
    check_command,
    check_run,
    check_update,
    with_messages,
)
from forethought.graph.waiting import shown_part, shown_snapshot
from forethought.settings import Settings
from forethought.state.context import bounds_budgets

_LANGGRAPHS_OWN = (
    "__",
    "langgraph_",
    "thread_id",
    "checkpoint_",
    "run_id",
    "graph_id",
    "assistant_id",
    "user_id",
)
"""How keys begin that clients and servers keep beside the settings, in a run's `configurable`."""


class _AnyProperty(dict[str, Any]):
    """The properties of a context, and every other key but those that LangGraph itself puts there."""

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or not str(key).startswith(_LANGGRAPHS_OWN)


class BoundedGraph(CompiledStateGraph[StateT, ContextT, InputT, OutputT]):
    """A compiled graph that checks what is written from outside of a run.

    Every way of running a graph asynchronously comes through `astream`, every update of a state through
    `abulk_update_state`. Of what is added to `usage`, the reducer takes nothing that is below zero.
    """

    def __init__(self, *, bounds: bool, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.bounds = bounds

    @classmethod
    def of(cls, compiled: CompiledStateGraph[StateT, ContextT, InputT, OutputT], settings: Settings) -> Self:
        """`compiled`, within the bounds of `settings`."""
        # As Pregel.copy does it.
        values = {key: value for key, value in vars(compiled).items() if key != "__orig_class__"}
        return cls(bounds=bounds_budgets(settings) or settings.access_tokens is not None, **values)

    def astream(
        self, input: InputT | Command[Any] | None, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """See CompiledStateGraph. Raises UpdateError for an input or a command that may not be given."""
        if isinstance(input, Command):
            check_command(input.update, input.goto)
        else:
            check_run(input)
            input = with_messages(input)
        return self._stream(input, config, kwargs)

    async def _stream(self, input: Any, config: RunnableConfig | None, kwargs: Any) -> AsyncIterator[Any]:
        kept = isinstance(self.checkpointer, BaseCheckpointSaver)
        if kept and config and isinstance(input, Mapping) and input.get("messages"):
            input = chat_reply(input, await self.aget_state(config)) or input
        parts: Any = super().astream(input, config, **kwargs)
        async with aclosing(parts):
            async for part in parts:
                yield shown_part(part)

    def get_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """See CompiledStateGraph."""
        return shown_snapshot(super().get_state(config, subgraphs=subgraphs))

    async def aget_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """See CompiledStateGraph."""
        return shown_snapshot(await super().aget_state(config, subgraphs=subgraphs))

    async def aget_state_history(self, config: RunnableConfig, **kwargs: Any) -> AsyncIterator[StateSnapshot]:
        """See CompiledStateGraph."""
        async for snapshot in super().aget_state_history(config, **kwargs):
            yield shown_snapshot(snapshot)

    def get_context_jsonschema(self) -> dict[str, Any] | None:
        """See CompiledStateGraph. LangGraph's server and aegra drop each key of a run's context that is not
        `in` the schema's properties, before any of our code could refuse it: so every one is."""
        schema = super().get_context_jsonschema()
        return schema and {**schema, "properties": _AnyProperty(schema["properties"])}

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """See CompiledStateGraph. Raises UpdateError before anything is written, and where the graph cannot
        go on from it."""
        state, given = self.builder.state_schema, self.builder.input_schema
        for update in (update for superstep in supersteps for update in superstep):
            check_update(update[0], state, given, bounded=self.bounds)
        known = config["configurable"].get("checkpoint_id")
        if known and (await self.aget_state(config)).created_at is None:
            raise UpdateError("the thread has no such checkpoint")
        try:
            return await super().abulk_update_state(config, supersteps)
        except (InvalidUpdateError, LookupError, TypeError, AttributeError) as error:
            raise UpdateError(
                f"the graph cannot go on from there: {type(error).__name__}: {error}"
            ) from error
