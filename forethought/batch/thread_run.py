"""The run of a job on its thread: begun, or gone on with from where another worker left it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forethought.batch import own_task
from forethought.batch.given import Given
from forethought.batch.outcomes import Ended, of_state, usage_of
from forethought.graph.resume import restart_failed_task, run_metadata
from forethought.journal import is_waiting
from forethought.settings import Settings
from forethought.shutdown import Shutdown
from forethought.state.context import Context
from forethought.state.reducers import CLEAR
from forethought.storage.errors import is_storage_failure
from forethought.telemetry import operation
from forethought.telemetry.where import entered

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from forethought.graph.agent import AgentGraph
    from forethought.storage.saver import ThreadSaver


@dataclass(frozen=True)
class ThreadRun:
    """A job's thread, which this process holds, and what it is run with."""

    thread_id: str
    given: Given
    graph: AgentGraph
    saver: ThreadSaver
    settings: Settings
    context: Context

    @property
    def config(self) -> RunnableConfig:
        """As of any run: its checkpoints say what it was run with, so that `resume` can go on with it."""
        metadata = run_metadata(self.context, self.settings)
        return {"configurable": {"thread_id": self.thread_id}, "metadata": metadata}

    async def go(self, again: bool, drain: Shutdown) -> Ended:
        """How the job ended, once its task has come to its end in the thread or waits for a person.

        Idempotent: what is finished stays as it is, unless it failed and is to be gone on with `again`. A
        thread that has other tasks, of a person's, is given the job's as its next one, unless that has had
        its turn. Raises Halt, and what the graph raises.
        """
        snapshot = await self.graph.aget_state(self.config)
        task, files = self.given.task, self.given.references
        if not snapshot.values and not snapshot.tasks:
            await self._invoke({"task": task, "files": files}, drain)
        elif not await own_task.is_asked(self.saver, snapshot, task):
            ended = own_task.ended_of(snapshot, task)
            if ended is not None and ended.outcome == "done":
                return ended
            if problem := own_task.why_not_next(snapshot, task, self.thread_id):
                return Ended("failed", "failed", problem)
            await self._invoke({"task": task, "files": [CLEAR, *files]}, drain)
        elif snapshot.interrupts and is_waiting(await self.saver.aget_tuple(self.config)):
            return of_state(snapshot)
        elif snapshot.tasks:
            await self._invoke(None, drain)
        elif again and snapshot.values.get("status") == "failed":
            await restart_failed_task(self.graph, self.config, snapshot.values)
            await self._invoke(None, drain)
        return of_state(await self.graph.aget_state(self.config))

    async def spent(self) -> dict[str, float]:
        """What the job has cost so far; {} where the database is what failed, or the thread is damaged."""
        try:
            values = (await self.graph.aget_state(self.config)).values
        except Exception as error:
            if not is_storage_failure(error):
                raise
            return {}
        return usage_of(values) if own_task.has_begun(values, self.given.task) else {}

    async def _invoke(self, given: Any, drain: Shutdown) -> None:
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
