"""LangChain's agent with LangMem's two memory tools and our file tools.

The store has no embeddings, because they need a network: a search returns the newest memories. Model calls
are structured replies through the trial's transport, so that their tokens count as in the other methods.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.store.base import BaseStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from benchmarks.stream.contenders import Contender, Told
from forethought.evals.baselines.bench import Bench, make_bench
from forethought.evals.methods.deep_agents import BenchChat
from forethought.evals.types import Attempt, InfrastructureError, Method, TrialContext
from forethought.trajectories.types import Trajectory

_SYSTEM = (
    "Answer the user's question from the files. Search your memories before you answer. "
    "The last line of your final answer holds the answer alone, in the form asked for."
)


@dataclass
class LangMem(Method):
    """An agent with a memory that it keeps itself."""

    store: BaseStore
    name: str = "langmem"
    about: str = "LangChain's agent with LangMem's tools manage_memory and search_memory"

    async def run(self, trial: TrialContext) -> Attempt:
        """See Method."""
        started, bench = time.monotonic(), await make_bench(trial)
        messages = await self.talk(bench, [{"role": "user", "content": asked(bench)}])
        answer = messages[-1].text.strip().rpartition("\n")[2].strip()  # _SYSTEM asks for it there
        return Attempt(
            answer=answer,
            status="answered" if answer else "failed",
            trajectory=Trajectory(id=trial.thread, task=trial.sample.task, answer=answer),
            usage=bench.meter.usage,
            seconds=time.monotonic() - started,
            steps=bench.tools.counter.used,
        )

    async def talk(self, bench: Bench, messages: Sequence[dict[str, str]]) -> list[BaseMessage]:
        """Carry a conversation on until the agent calls no more tools. Raises ModelError."""
        try:
            from langchain.agents import create_agent
            from langchain.agents.middleware import ToolCallLimitMiddleware
            from langmem import create_manage_memory_tool, create_search_memory_tool
        except ImportError as error:
            raise InfrastructureError("langmem is missing: run `make bench-stream`") from error
        memory = [
            make(("memories",), store=self.store)
            for make in (create_manage_memory_tool, create_search_memory_tool)
        ]
        agent = create_agent(
            BenchChat(bench=bench),
            [*memory, *(_tool(bench, name) for name in bench.offered)],
            system_prompt=_SYSTEM,
            middleware=[ToolCallLimitMiddleware(run_limit=bench.trial.budget.max_steps)],
            store=self.store,
        )
        state = await agent.ainvoke({"messages": list(messages)}, {"recursion_limit": 1_000})
        made: list[BaseMessage] = state["messages"]
        return made


class Keeper(Contender):
    """A contender that gets a correction as the next message of the conversation."""

    async def correct(self, trial: TrialContext, told: Told) -> None:
        """See Contender."""
        assert isinstance(self.method, LangMem)
        bench = await make_bench(trial)
        turns = [("user", asked(bench)), ("assistant", told.answer), ("user", told.words)]
        await self.method.talk(bench, [{"role": role, "content": text} for role, text in turns])


def asked(bench: Bench) -> str:
    """The question, the form of its answer, and the names of the files."""
    sample = bench.trial.sample
    return f"{sample.task}\n\nThe answer's form: {sample.answer_format}\n\nFiles:\n{bench.file_list}"


def _tool(bench: Bench, name: str) -> BaseTool:
    tool = bench.offered[name]

    async def call(**arguments: Any) -> str:
        return (await bench.call(name, arguments, bench.tools.counter.used + 1)).text

    return StructuredTool.from_function(
        coroutine=call, name=name, description=tool.description, args_schema=tool.arguments
    )


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Keeper]:
    """The contender with its memories in `folder`."""
    async with AsyncSqliteStore.from_conn_string(str(folder / "langmem.sqlite")) as store:
        await store.setup()
        yield Keeper(LangMem(store))
