"""How a thread grows: bytes and milliseconds a step, in SQLite and Postgres.

    python benchmarks/storage_growth.py [--db ADDRESS] [--steps 1000]

A graph with the agent's own channels adds one step of `STEP_BYTES` bytes to the trajectory each turn, and
replaces a small counter, as the agent does. What is counted are the bytes of all rows of the thread.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langgraph.graph import END, START, StateGraph

from forethought.settings import Settings
from forethought.state.agent import AgentState
from forethought.storage import address_of, open_threads
from forethought.storage.address import file_address
from forethought.storage.saver import ThreadSaver

STEP_BYTES = 1000
"""Characters of each step's observation."""
Measured = tuple[int, int, float]
"""Steps so far, bytes of the thread, and milliseconds a step since the measure before."""


async def grow(saver: ThreadSaver, marks: Sequence[int]) -> list[Measured]:
    """Run as many steps as the last of `marks`, and measure at each of them."""
    measured: list[Measured] = []
    started, before = time.perf_counter(), 0

    async def step(state: AgentState) -> dict[str, Any]:
        nonlocal started, before
        n = (state.get("progress") or {}).get("n", 0) + 1
        if n - 1 in marks:
            seconds = time.perf_counter() - started
            measured.append((n - 1, await _bytes(saver), 1000 * seconds / (n - 1 - before)))
            started, before = time.perf_counter(), n - 1
        return {"trajectory": [{"n": n, "observation": f"{n:06}" * (STEP_BYTES // 6)}], "progress": {"n": n}}

    graph = StateGraph(AgentState)
    graph.add_node("step", step)
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", lambda state: END if state["progress"]["n"] > marks[-1] else "step")
    compiled: Any = graph.compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "growth"}, "recursion_limit": marks[-1] + 10}
    await compiled.ainvoke({"task": "grow"}, config, durability="sync")
    return measured


async def _bytes(saver: ThreadSaver) -> int:
    """Bytes of the rows of the thread: their contents, and LangGraph's own bookkeeping."""
    columns = [*saver.contents, ("checkpoints", "metadata")]
    if ("checkpoints", "checkpoint") not in columns:
        columns.append(("checkpoints", "checkpoint"))
    total = 0
    for table, column in columns:
        query = f"SELECT COALESCE(SUM(LENGTH(CAST({column} AS TEXT))), 0) FROM {table}"
        if (table, column) in saver.contents:
            query = f"SELECT COALESCE(SUM(LENGTH({column})), 0) FROM {table}"
        total += int((await saver.rows(query))[0][0])
    return total


async def _measure(db: str | None, steps: int) -> None:
    marks = sorted({steps // 10, steps // 2, steps})
    with tempfile.TemporaryDirectory() as folder:
        address = address_of(Settings(db=db)) if db else file_address(Path(folder) / "threads.sqlite")
        async with open_threads(address) as saver:
            for count, size, took in await grow(saver, marks):
                each = f"{size / count:8,.0f} a step  {took:6.1f} ms"
                print(f"{address.shown}  {count:6} steps  {size:12,} bytes  {each}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--db", help="address of a database (default: a new SQLite file)")
    parser.add_argument("--steps", type=int, default=1000)
    given = parser.parse_args()
    asyncio.run(_measure(given.db, given.steps))
