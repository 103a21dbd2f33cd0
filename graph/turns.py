"""A graph whose runs stay bounded, whoever serves it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Self

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateUpdate
from langgraph.typing import ContextT, InputT, OutputT, StateT

from forethought.settings import Settings
from forethought.state.bounds import bounds_budgets
from forethought.state.outside import check_update


class TurnTaking(CompiledStateGraph[StateT, ContextT, InputT, OutputT]):
    """A compiled graph that, where the operator bounds what runs may spend (`bounds`), takes no write from
    outside that takes a bound away.

    Every way of running a graph asynchronously comes through `astream`, every update of a state through the
    bulk ones.
    """

    def __init__(self, *, bounds: bool, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.bounds = bounds

    @classmethod
    def of(cls, compiled: CompiledStateGraph[StateT, ContextT, InputT, OutputT], settings: Settings) -> Self:
        """`compiled`, taking turns within the bounds of `settings`."""
        # As Pregel.copy does it.
        made = {key: value for key, value in vars(compiled).items() if key != "__orig_class__"}
        return cls(bounds=bounds_budgets(settings), **made)

    def astream(
        self, input: InputT | Command[Any] | None, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """See CompiledStateGraph. Raises OutsideError for a command that may not be given."""
        if isinstance(input, Command):
            self._check(input)
        return super().astream(input, config, **kwargs)

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """See CompiledStateGraph. Raises OutsideError before anything is written."""
        self._check([update[0] for superstep in supersteps for update in superstep])
        return await super().abulk_update_state(config, supersteps)

    def bulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """As `abulk_update_state`."""
        self._check([update[0] for superstep in supersteps for update in superstep])
        return super().bulk_update_state(config, supersteps)

    def _check(self, values: Any) -> None:
        if self.bounds:
            check_update(values)
