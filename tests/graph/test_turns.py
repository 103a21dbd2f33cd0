"""Two runs sent to one thread at the same moment, on a server that lets both begin."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from tests.support.agent import Drive, Driven, Script, World
from tests.support.replies import answer


async def _served(drive: Drive, saver: AsyncPostgresSaver) -> Driven:
    """An agent as a server makes it of the graph: a copy with a checkpointer of its own."""
    await saver.setup()
    script = Script(answers=[answer("first"), answer("second")])
    out: Driven = await drive(script, World(seconds=0.05), task=None)
    out.graph = out.graph.copy(update={"checkpointer": saver})
    return out


async def test_the_second_run_begins_where_the_first_has_ended(drive: Drive, postgres: str) -> None:
    async with AsyncPostgresSaver.from_conn_string(postgres) as saver:
        out = await _served(drive, saver)
        await asyncio.gather(*(out.go(f"task {n}") for n in (1, 2)))
        await out.look()
    assert [(step["task"], step["n"]) for step in out.steps] == [(1, 1), (2, 2)]
    assert [item["answer"] for item in out.state["progress"]["earlier"]] == ["first"]
    assert (out.state["answer"], out.world.widest) == ("second", 1)


async def test_events_are_streamed_in_turn_as_well(drive: Drive, postgres: str) -> None:
    async with AsyncPostgresSaver.from_conn_string(postgres) as saver:
        out = await _served(drive, saver)
        given: Any = {"task": "task 1"}

        async def stream() -> list[str]:
            events = out.graph.astream_events(given, out.config, context=out.context, version="v2")
            return [event["event"] async for event in events]

        seen, _ = await asyncio.gather(stream(), out.go("task 2"))
        await out.look()
    assert "on_chain_end" in seen
    assert [(step["task"], step["n"]) for step in out.steps] == [(1, 1), (2, 2)]


async def test_a_stream_that_is_left_gives_the_thread_back(drive: Drive, postgres: str) -> None:
    async with AsyncPostgresSaver.from_conn_string(postgres) as saver:
        out = await _served(drive, saver)
        stream = out.graph.astream({"task": "task 1"}, out.config, context=out.context)
        await anext(stream)
        await stream.aclose()
        async with asyncio.timeout(20):
            await out.go()
    assert out.status == "answered"
