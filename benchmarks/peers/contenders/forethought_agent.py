"""Ours, with each step on disk before the next begins. `effort` is the Context's."""

from __future__ import annotations

import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from benchmarks.peers.contenders import LookUp, Options, Plays
from benchmarks.peers.task import Task
from forethought.graph.agent import build_agent
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.storage import open_threads
from forethought.storage.address import file_address
from forethought.tools.base import make_tool


@asynccontextmanager
async def opened(url: str, look_up: LookUp, options: Options) -> Plays:
    """See the package. Only budgets, which K exceeds, differ from the defaults."""

    async def look(bin: str) -> str:
        """Look up what is in a bin.

        Args:
            bin: The bin.
        """
        return look_up(bin)

    look.__name__ = "look_up"
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            data_dir=Path(folder),
            base_url=f"{url}/v1",
            api_key=SecretStr("none"),
            model="openai:scripted",
        )
        async with open_threads(file_address(Path(folder) / "threads.sqlite")) as saver:
            graph = build_agent(tools=[make_tool(look)], settings=settings, checkpointer=saver, builtin=())

            async def play(task: Task) -> str:
                context = Context(max_steps=task.k + 5, max_tokens=10**8, **options)
                config: Any = {"configurable": {"thread_id": f"{task.run}"}}
                async with saver.claim(f"{task.run}"):
                    state = await graph.ainvoke(
                        {"task": task.text}, config, context=context, durability="sync"
                    )
                if state["status"] != "answered":
                    return f"{state['status']}: {state['messages'][-1].content}"
                return str(state["answer"])

            yield play
