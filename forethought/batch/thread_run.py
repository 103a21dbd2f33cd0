"""The run of a job on its thread: begun, or gone on with from where another worker left it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langgraph.errors import InvalidUpdateError

from forethought.batch.given import Given
from forethought.draining import Drain
from forethought.settings import Settings
from forethought.storage.errors import is_storage_failure
from forethought.telemetry import operation
from forethought.telemetry.where import entered
from graph.context import Context
from graph.reentering import back_to_work
from graph.run_metadata import saved_with
from graph.state import AgentState
from graph.validation import StateError, check_state

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.types import StateSnapshot

    from graph.agent import AgentGraph

Json = dict[str, Any]


@dataclass(frozen=True)
class ThreadRun:
    """A thread that this process holds, and what it is run with."""

    thread_id: str
    graph: AgentGraph
    settings: Settings
    context: Context

    @property
    def config(self) -> RunnableConfig:
        """As of any run: its checkpoints say what it was run with, so that `resume` can go on with it."""
        metadata = saved_with(self.context, self.settings)
        return {"configurable": {"thread_id": self.thread_id}, "metadata": metadata}

    async def go(self, given: Given, again: bool, drain: Drain) -> StateSnapshot:
        """The thread's last state, once it has come to its end or waits for a person.

        Idempotent: what is finished stays as it is, unless it failed and is to be gone on with `again`.
        Raises Drained, and what the graph raises.
        """
        snapshot = await self.checked()
        if snapshot.interrupts:
            return snapshot
        if not snapshot.values and not snapshot.tasks:
            await self._invoke({"task": given.task, "files": given.references}, drain)
        elif snapshot.tasks:
            await self._invoke(None, drain)
        elif again and snapshot.values.get("status") == "failed":
            await back_to_work(self.graph, self.config, snapshot.values)
            await self._invoke(None, drain)
        else:
            return snapshot
        return await self.graph.aget_state(self.config)

    async def checked(self) -> StateSnapshot:
        """The thread's state. Raises StateError (a ValueError) where no run can have written it."""
        try:
            snapshot = await self.graph.aget_state(self.config)
        except (TypeError, ValueError, KeyError, AttributeError, IndexError, InvalidUpdateError) as error:
            # A reducer that is given what no node has written.
            raise StateError(f"the thread's state cannot be put together: {error}") from error
        check_state(AgentState, snapshot.values)
        return snapshot

    async def spent(self) -> dict[str, float]:
        """What the thread has cost so far; {} where the database is what failed."""
        from forethought.batch.outcomes import usage_of

        try:
            return usage_of((await self.graph.aget_state(self.config)).values)
        except Exception as error:
            if not is_storage_failure(error):
                raise
            return {}

    async def _invoke(self, given: Any, drain: Drain) -> None:
        run_id = uuid.uuid4()
        entered(thread_id=self.thread_id, run_id=run_id)
        with operation("invoke_agent", "forethought", gen_ai__agent__name="forethought"):
            run = self.graph.ainvoke(
                given,
                {**self.config, "run_id": run_id},
                context=self.context,
                durability="sync",
                control=drain.control,
            )
            await drain.finish(run, self.settings.drain_s)
