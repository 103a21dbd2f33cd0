"""Jobs that may have taken a worker down run alone, and do not use up the tries of others."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from forethought.batch.room import Room
from forethought.graph.agent import build_agent
from forethought.shutdown import Halt, Shutdown
from forethought.state.context import Context
from tests.forethought.batch.conftest import Bench, MakeBench, script
from tests.support.model_server import SeenRequest
from tests.support.replies import diagnosis


async def _died(b: Bench, *names: str, further: bool) -> None:
    """As a killed worker leaves jobs that it had begun: it says nothing more. Their threads have come
    `further` than they were at the begin of the try."""
    for name in names if further else ():
        graph = build_agent(settings=b.settings, checkpointer=b.queue.threads)
        config: Any = {"configurable": {"thread_id": f"b:{name}"}}
        async with b.queue.threads.claim(f"b:{name}"):
            context = Context(model="openai:scripted")
            await graph.ainvoke({"task": name}, config, context=context, interrupt_after=["planner"])
    run = "UPDATE forethought_jobs SET run = 'killed', begun_from = ?, tries = tries + 1 WHERE task = ANY(?)"
    await b.queue.threads.rows(run, ("an older one" if further else "", list(names)))


async def test_a_try_that_came_further_is_not_counted_when_its_worker_dies(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("long", "poison")
        await b.queue.threads.rows("UPDATE forethought_jobs SET tries = 2")
        await _died(b, "long", further=True)
        await _died(b, "poison", further=False)
        assert await b.work() == {"done": 1, "failed": 1}
        assert await b.states() == {"long": "done", "poison": "failed"}
        assert b.ended["b:poison"].error == "given up: begun 3 times, and never ended"


async def test_jobs_whose_worker_died_run_alone(bench: MakeBench) -> None:
    inside: list[str] = []
    seen_beside: dict[str, set[str]] = {}
    guard = threading.Lock()

    def diagnoses(seen: SeenRequest) -> Any:
        (name,) = [name for name in ("suspect-1", "suspect-2", "usual-1", "usual-2") if name in seen.text]
        with guard:
            inside.append(name)
        time.sleep(0.25)
        with guard:
            seen_beside[name] = set(inside)
            inside.remove(name)
        return diagnosis()

    async with bench(script(diagnoses=diagnoses)) as b:
        await b.submit("suspect-1", "usual-1", "suspect-2", "usual-2")
        await _died(b, "suspect-1", "suspect-2", further=False)
        assert await b.work(concurrency=4) == {"done": 4}
        assert seen_beside["suspect-1"] == {"suspect-1"}
        assert seen_beside["suspect-2"] == {"suspect-2"}


async def test_who_waits_to_be_alone_can_be_stopped_and_holds_nobody_up_then() -> None:
    room, stopped, other = Room(), Shutdown(), Shutdown()
    entered: list[str] = []

    async def enter(name: str, alone: bool, drain: Shutdown) -> None:
        async with room.enter(alone, drain):
            entered.append(name)
            await asyncio.sleep(0.05)

    async with room.enter(False, other):
        waiting = asyncio.create_task(enter("alone", True, stopped))
        await asyncio.sleep(0.01)
        behind = asyncio.create_task(enter("behind", False, other))
        await asyncio.sleep(0.01)
        assert entered == []
        stopped.request()
        with pytest.raises(Halt):
            await waiting
        await behind
        assert entered == ["behind"]
    await asyncio.gather(*(enter(name, name == "x", other) for name in "axb"))
    assert entered[1:] == ["a", "x", "b"]
