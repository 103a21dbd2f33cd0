"""A graph that takes from clients (of a server, Studio, a fork) only what they may write.

See `client_writes`: a plan or a proposal may be edited from outside of a run. What a run is bounded by may
not: else the operator's budgets (`forethought.state.context`) would be what a client says has been spent.

Its nodes are asynchronous. Its synchronous methods run them in the process's own loop (`own_loop`), while the
caller waits: what serves many clients from one event loop has to await the asynchronous ones.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Self

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import EmptyInputError, InvalidUpdateError
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot, StateUpdate
from langgraph.typing import ContextT, InputT, OutputT, StateT

from forethought import own_loop
from forethought.graph.chat_reply import chat_reply
from forethought.graph.client_writes import (
    UpdateError,
    as_config,
    check_command,
    check_context,
    check_run,
    check_update,
)
from forethought.graph.waiting import shown_part, shown_snapshot
from forethought.settings import Settings
from forethought.state.context import bounds_budgets
from forethought.storage.threaded import awaitable
from forethought.text import one_line

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
"""Prefixes of the keys that clients and servers add to a run's `configurable`."""
_INHERITED = "__pregel_checkpointer"
"""The private key under which LangGraph passes the checkpointer to a subgraph."""


class _AnyProperty(dict[str, Any]):
    """The properties of a context, and every other key but those that LangGraph itself puts there."""

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or not str(key).startswith(_LANGGRAPHS_OWN)


class BoundedGraph(CompiledStateGraph[StateT, ContextT, InputT, OutputT]):
    """A compiled graph that checks what clients write.

    Every way of running a graph comes through `astream`, every update of a state through
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
        if isinstance(compiled.checkpointer, BaseCheckpointSaver):
            values["checkpointer"] = awaitable(compiled.checkpointer)
        return cls(bounds=bounds_budgets(settings) or settings.access_tokens is not None, **values)

    def astream(
        self, input: InputT | Command[Any] | None, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncGenerator[Any, None]:
        """See CompiledStateGraph. Raises UpdateError for what may not be given."""
        if isinstance(input, Command):
            check_command(input.update, input.goto)
        else:
            check_run(input)
        check_context(kwargs.get("context"), self.context_schema)
        return self._stream(input, config, kwargs)

    async def _stream(
        self, input: Any, config: RunnableConfig | None, kwargs: Any
    ) -> AsyncGenerator[Any, None]:
        kept = isinstance(self.checkpointer, BaseCheckpointSaver)
        if kept and config and isinstance(input, Mapping) and input.get("messages"):
            input = chat_reply(input, await self.aget_state(config)) or input
        parts: Any = super().astream(input, config, **kwargs)
        async with aclosing(parts):
            try:
                async for part in parts:
                    yield shown_part(part)
            except EmptyInputError as error:
                raise EmptyInputError(
                    "the thread has no task to continue: send a task or a message"
                ) from error

    async def aget_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """See CompiledStateGraph."""
        return shown_snapshot(await super().aget_state(config, subgraphs=subgraphs))

    async def aget_state_history(
        self, config: RunnableConfig, **kwargs: Any
    ) -> AsyncGenerator[StateSnapshot, None]:
        """See CompiledStateGraph. Raises UpdateError for a `before` without a checkpoint."""
        if kwargs.get("before"):
            kwargs["before"] = as_config(kwargs["before"])
        async for snapshot in super().aget_state_history(config, **kwargs):
            yield shown_snapshot(snapshot)

    def stream(
        self, input: InputT | Command[Any] | None, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        """See CompiledStateGraph; `invoke` and `batch` come through it. Raises UpdateError, and RuntimeError
        where it would wait for itself."""
        self._refuse_foreign_loop()
        inherited = (config or {}).get("configurable", {}).get(_INHERITED)
        if config and isinstance(inherited, BaseCheckpointSaver):  # it is a node of a synchronous graph
            within = {**config["configurable"], _INHERITED: awaitable(inherited)}
            config = {**config, "configurable": within}
        return own_loop.iterate(self.astream(input, config, **kwargs))

    def get_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """See CompiledStateGraph."""
        self._refuse_foreign_loop()
        return own_loop.run(self.aget_state(config, subgraphs=subgraphs))

    def get_state_history(self, config: RunnableConfig, **kwargs: Any) -> Iterator[StateSnapshot]:
        """See CompiledStateGraph."""
        self._refuse_foreign_loop()
        return own_loop.iterate(self.aget_state_history(config, **kwargs))

    def bulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """See `abulk_update_state`."""
        self._refuse_foreign_loop()
        return own_loop.run(self.abulk_update_state(config, supersteps))

    def _refuse_foreign_loop(self) -> None:
        """Raises RuntimeError where the checkpointer answers only in the event loop that opened it, which may
        be the one that is kept waiting."""
        if getattr(self.checkpointer, "loop", None) is not None:
            raise RuntimeError(
                f"{type(self.checkpointer).__name__} works only in the event loop that opened it: await "
                "the graph's asynchronous methods, such as ainvoke, or use a synchronous checkpointer"
            )

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """How a notebook shows it: as text that the notebook draws, where LangGraph asks a web service to."""
        return {"text/plain": f"<graph {self.name}>", "text/vnd.mermaid": self.get_graph().draw_mermaid()}

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
            raise UpdateError(
                f"the thread has no checkpoint {one_line(str(known), 60)}: choose one from its history"
            )
        try:
            return await super().abulk_update_state(config, supersteps)
        except (InvalidUpdateError, LookupError, TypeError, AttributeError) as error:
            raise UpdateError(
                f"the graph cannot continue after this update: {type(error).__name__}: {error}"
            ) from error
