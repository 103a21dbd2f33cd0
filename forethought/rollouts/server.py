"""The agent's threads on a LangGraph server: read and run again through its API, from a graph that the same
server runs, or from elsewhere.

Without an address the client speaks to the server that it runs in, without a socket.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from forethought.rollouts.thread import Limits, ThreadRollouts, within
from forethought.rollouts.types import RolloutError
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.state.history import Json, Point
from forethought.tools.registry import effects_of
from forethought.trajectories.own import from_state
from forethought.trajectories.types import Loaded, Trajectory

if TYPE_CHECKING:
    from langgraph_sdk.client import LangGraphClient

    from forethought.state.debugger import DebuggerContext

ASSISTANT = "agent"
_WORKERS = "N_JOBS_PER_WORKER"
"""Set by the server: its maximum parallel runs (`langgraph dev`: default 1)."""


class ServerThread:
    """A thread of the agent's on a server; re-runs get the context of its last run."""

    def __init__(
        self, thread: str, client: LangGraphClient | None = None, assistant: str = ASSISTANT
    ) -> None:
        self.thread, self._assistant = thread, assistant
        self._client = client
        self._context: Json | None = None

    @property
    def client(self) -> LangGraphClient:
        """Made when it is first needed, inside the loop that uses it."""
        if self._client is None:
            from langgraph_sdk import get_client

            self._client = get_client()
        return self._client

    async def read(self, at: Any | None = None) -> Point | None:
        """See `Checkpoints`; None too where the server knows no such thread."""
        import httpx

        try:
            state = await self.client.threads.get_state(self.thread, checkpoint=at)
        except httpx.HTTPStatusError as error:
            if error.response.status_code in (404, 422):
                return None
            raise
        return _point(state) if state.get("created_at") else None

    async def newest(self, count: int) -> list[Point]:
        """See `Checkpoints`."""
        return [_point(state) for state in await self.client.threads.get_history(self.thread, limit=count)]

    async def write(self, at: Any, values: Json | None, as_node: str) -> Any:
        """See `Checkpoints`."""
        updated = await self.client.threads.update_state(self.thread, values, checkpoint=at, as_node=as_node)
        return updated["checkpoint"]

    async def run(self, at: Any, limits: Limits) -> Point:
        """See `AgentThread`. Raises RolloutError with the server's line when the run fails."""
        ended: Any = await self.client.runs.wait(
            self.thread,
            self._assistant,
            input=None,
            checkpoint=at,
            context=await self._run_context(limits),
            raise_error=False,
        )
        if isinstance(ended, dict) and "__error__" in ended:
            error = ended["__error__"]
            raise RolloutError(f"the re-run of thread {self.thread} failed: {error.get('message') or error}")
        leaf = await self.read()
        assert leaf is not None
        return leaf

    async def last_context(self) -> Json:
        """The context that the thread's last run was given."""
        runs = await self.client.runs.list(self.thread, limit=1)
        stored: Any = runs[0].get("kwargs") or {} if runs else {}
        return dict(stored.get("context") or {})

    async def _run_context(self, limits: Limits) -> Any:
        if self._context is None:
            self._context = await self.last_context()
        context = within(self._context or None, limits)
        return (
            context.model_dump(mode="json", exclude_unset=True) if isinstance(context, Context) else context
        )


def _point(state: Any) -> Point:
    tasks = [task["name"] for task in state.get("tasks") or []]
    values = state.get("values")
    return Point(
        id=str(state["checkpoint"]["checkpoint_id"]),
        at=state["checkpoint"],
        values=values if isinstance(values, dict) else {},
        waiting=tuple(tasks or state.get("next") or ()),
        parent=state.get("parent_checkpoint"),
        asks=any(task.get("interrupts") for task in state.get("tasks") or []),
    )


async def load_thread(thread: str) -> Loaded:
    """The present task of a thread on this server, under the ids of the thread and of its last checkpoint.

    Raises ValueError, one line, when it is not there.
    """
    point = await ServerThread(thread).read()
    if point is None or not point.values.get("task"):
        raise ValueError(f"this server has no thread {thread} of the agent with a task; check the id")
    effects = await asyncio.to_thread(effects_of, Settings())
    return Loaded(trajectory=from_state(point.values, effects, id=f"{thread}@{point.id}"))


def make_rollouts(trajectory: Trajectory, thread: str | None, context: DebuggerContext) -> ThreadRollouts:
    """Where a thread's trajectory is run again: on this server. Raises RolloutError without a thread, and
    where the server carries out one run at a time: the re-run would wait for the run that waits for it."""
    if not thread:
        raise RolloutError("this server can rerun threads only: give a thread_id instead of a trajectory")
    if os.environ.get(_WORKERS) == "1":
        raise RolloutError(
            "this server runs one job at a time, but a re-run needs a second: start it with "
            "langgraph dev --n-jobs-per-worker 4"
        )
    effects = effects_of(Settings())
    leaf = {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": trajectory.id.rpartition("@")[2]}

    def read(values: Mapping[str, Any]) -> Trajectory:
        return from_state(values, effects, id=trajectory.id)

    return ThreadRollouts(
        ServerThread(thread), trajectory, read, leaf, max_tokens=context.max_tokens, max_usd=context.max_usd
    )
