"""A graph whose clients cannot take the operator's budgets away: those of a server, Studio, a fork.

A plan, a proposal, a step may be edited from outside of a run. What a run is bounded by may not: else the
operator's budgets (`forethought.state.context`) would be what a client says has been spent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Self

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, Overwrite, StateUpdate
from langgraph.typing import ContextT, InputT, OutputT, StateT

from forethought.settings import Settings
from forethought.state.context import bounds_budgets
from forethought.state.reducers import CLEAR

WIDEST = 64
"""Most subtasks of a wave that a run of any graph may send side by side (`max_parallel`)."""


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


class UpdateError(ValueError):
    """A write that only a run may make; one line that says which."""


class _AnyProperty(dict[str, Any]):
    """The properties of a context, and every other key but those that LangGraph itself puts there."""

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or not str(key).startswith(_LANGGRAPHS_OWN)


class BoundedGraph(CompiledStateGraph[StateT, ContextT, InputT, OutputT]):
    """A compiled graph that, where the operator bounds what runs may spend, checks writes from outside.

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
        return cls(bounds=bounds_budgets(settings), **values)

    def astream(
        self, input: InputT | Command[Any] | None, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """See CompiledStateGraph. Raises UpdateError for a command that may not be given."""
        if isinstance(input, Command) and self.bounds:
            check_update(input)
        return super().astream(input, config, **kwargs)

    def get_context_jsonschema(self) -> dict[str, Any] | None:
        """See CompiledStateGraph. LangGraph's server and aegra drop each key of a run's context that is not
        `in` the schema's properties, before any of our code could refuse it: so every one is."""
        schema = super().get_context_jsonschema()
        return schema and {**schema, "properties": _AnyProperty(schema["properties"])}

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """See CompiledStateGraph. Raises UpdateError before anything is written."""
        if self.bounds:
            for update in (update for superstep in supersteps for update in superstep):
                check_update(update[0])
        return await super().abulk_update_state(config, supersteps)


def check_update(values: Any) -> None:
    """Raises UpdateError where an update takes a bound away: `values` by channel, or a Command, which may
    resume and write, but send nobody to a node."""
    if isinstance(values, Command):
        if values.goto:
            raise UpdateError("a command may not name the node that runs next: write to the thread instead")
        values = values.update
    pairs = values.items() if isinstance(values, Mapping) else values or ()
    for pair in pairs if isinstance(pairs, Iterable) else [pairs]:
        if not (isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)):
            raise UpdateError("what is written to a thread is given by channel")
        if not _may_write(*pair):
            raise UpdateError(f"channel {pair[0]} bounds the run: from outside it is only added to")


def _may_write(channel: str, value: Any) -> bool:
    if isinstance(value, Overwrite) or (
        isinstance(value, Mapping) and ("__overwrite__" in value or value.get("type") == "__overwrite__")
    ):
        return False
    if channel in ("dispatch", "wave"):
        return isinstance(value, list) and len(value) <= WIDEST
    if channel == "usage":
        return isinstance(value, Mapping) and CLEAR not in value
    return channel != "progress"
