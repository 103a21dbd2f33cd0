"""A thread of the real agent in an SQLite file, with a scripted model, and re-runs of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from forethought.graph.agent import build_agent
from forethought.rollouts.thread import GraphThread, ThreadRollouts
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.tools.base import make_tool
from forethought.trajectories.own import from_state
from forethought.trajectories.types import Trajectory
from tests.support.agent import Script, World, kind_of
from tests.support.model_server import ModelServer, SeenRequest


@dataclass
class Shelf:
    """What the tool `store` has stored."""

    texts: list[str] = field(default_factory=list)
    began: asyncio.Event = field(default_factory=asyncio.Event)
    """Something was stored."""
    hangs: bool = False
    """Whether the tool never comes back."""

    async def put(self, text: str) -> str:
        """The tool."""
        self.texts.append(text)
        self.began.set()
        if self.hangs:
            await asyncio.sleep(60)
        return f"stored {text}"


@dataclass
class Recorded:
    """A run of the agent on a thread, and what it takes to run it again."""

    graph: Any
    server: ModelServer
    world: World
    saver: AsyncSqliteSaver
    context: Context
    shelf: Shelf = field(default_factory=Shelf)
    marker: int = 0

    @property
    def written(self) -> list[str]:
        """What the tool `store` has stored."""
        return self.shelf.texts

    @property
    def thread(self) -> GraphThread:
        """The thread."""
        return GraphThread(self.graph, {"configurable": {"thread_id": "t"}}, self.context)

    async def run(self, **given: Any) -> Recorded:
        """Run a task to its end."""
        await self.graph.ainvoke({"task": "the task", **given}, self.thread.config, context=self.context)
        return self

    async def state(self, branch: str | None = None) -> dict[str, Any]:
        """The state at the end of a branch, the newest by default."""
        named = {"thread_id": "t", **({"checkpoint_id": branch} if branch else {})}
        return dict((await self.graph.aget_state({"configurable": named})).values)

    async def rollouts(self, **options: Any) -> ThreadRollouts:
        """Re-runs of the newest branch; calls and requests are counted from here."""
        self.marker = len(self.server.requests)
        self.world.calls.clear()
        head = await self.thread.read()
        return ThreadRollouts(self.thread, read(await self.state()), read, head.at, **options)

    @property
    def later(self) -> list[SeenRequest]:
        """What models were asked since the last `rollouts`."""
        return self.server.requests[self.marker :]

    @property
    def kinds(self) -> list[str]:
        """The same by type of reply."""
        return [kind_of(seen) for seen in self.later]


def read(values: Mapping[str, Any]) -> Trajectory:
    """A state as a trajectory."""
    return from_state(values, {"store": "write", "lookup": "read", "ask_user": "read"})


def exact(steps: Any) -> str:
    """Recorded steps, byte for byte."""
    return json.dumps(sorted(steps, key=lambda step: step["n"]), sort_keys=True)


Record = Callable[..., Any]


@pytest.fixture
async def record(
    model_server: Callable[..., ModelServer], settings: Callable[..., Settings], tmp_path: Path
) -> AsyncIterator[Record]:
    """Run a script on a new thread: `await record(Script(...), World(...), max_parallel=2)`."""
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:

        async def start(
            script: Callable[[SeenRequest], Any] | None = None,
            world: World | None = None,
            given: Mapping[str, Any] | None = None,
            **switches: Any,
        ) -> Recorded:
            server, world = model_server(script or Script()), world or World()
            shelf = Shelf()

            async def store(text: str) -> str:
                """Store a text.

                Args:
                    text: What to store.
                """
                return await shelf.put(text)

            graph = build_agent(
                tools=[world.tool(), make_tool(store, effect="write", outside=False)],
                settings=settings(server, request_retries=0),
                checkpointer=saver,
            )
            context = Context.model_validate({"approve_tools": "never", **switches})
            return await Recorded(graph, server, world, saver, context, shelf).run(**(given or {}))

        yield start
