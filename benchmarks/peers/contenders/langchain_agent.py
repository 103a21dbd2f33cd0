"""LangChain's create_agent on LangGraph's SQLite saver, with each step on disk before the next begins."""

from __future__ import annotations

import tempfile
from contextlib import asynccontextmanager
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from benchmarks.peers.contenders import LookUp, Options, Plays
from benchmarks.peers.contenders.bare_loop import SYSTEM
from benchmarks.peers.task import Task


@asynccontextmanager
async def opened(url: str, look_up: LookUp, options: Options) -> Plays:
    """See the package. `parallel`: whether several calls may come in one turn."""

    async def look(bin: str) -> str:
        return look_up(bin)

    tool = StructuredTool.from_function(
        coroutine=look, name="look_up", description="Look up what is in a bin."
    )
    calls = {} if options["parallel"] else {"parallel_tool_calls": False}
    model = ChatOpenAI(model="scripted", base_url=f"{url}/v1", api_key="none", model_kwargs=calls)
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncSqliteSaver.from_conn_string(f"{folder}/threads.sqlite") as saver:
            graph = create_agent(model, [tool], system_prompt=SYSTEM, checkpointer=saver)

            async def play(task: Task) -> str:
                config: Any = {"configurable": {"thread_id": f"{task.run}"}, "recursion_limit": 10_000}
                asked = {"messages": [{"role": "user", "content": task.text}]}
                state = await graph.ainvoke(asked, config, durability="sync")
                return str(state["messages"][-1].content)

            yield play
