"""smolagents' CodeAgent and ToolCallingAgent, a thread for each run. Nothing is kept on disk."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import smolagents

from benchmarks.peers.contenders import LookUp, Options, Plays
from benchmarks.peers.task import Task

PLANNING_INTERVAL = 10
"""Steps between two plans of the agents that plan."""
_MOST_RUNS = 1024


@asynccontextmanager
async def opened(url: str, look_up: LookUp, options: Options) -> Plays:
    """See the package. `agent`: the class; `planning`: whether it plans."""

    class LookUp(smolagents.Tool):
        name = "look_up"
        description = "Look up what is in a bin."
        inputs = {"bin": {"type": "string", "description": "The bin."}}  # noqa: RUF012
        output_type = "string"

        def forward(self, bin: str) -> str:
            return look_up(bin)

    model = smolagents.OpenAIModel("scripted", api_base=f"{url}/v1", api_key="none")
    planned = {"planning_interval": PLANNING_INTERVAL} if options.get("planning") else {}

    def run(task: Task) -> str:
        agent = getattr(smolagents, options["agent"])(
            tools=[LookUp()], model=model, max_steps=task.k + 5, verbosity_level=0, **planned
        )
        return str(agent.run(task.text))

    with ThreadPoolExecutor(_MOST_RUNS) as pool:

        async def play(task: Task) -> str:
            return await asyncio.get_running_loop().run_in_executor(pool, run, task)

        yield play
