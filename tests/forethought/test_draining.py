"""`Drain`: work that is let finish, given up after its time, or broken off."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time

import pytest
from langgraph.errors import GraphDrained

from forethought.draining import Drain, Drained, on_sigterm


async def test_work_that_nobody_stops_comes_to_its_end() -> None:
    async def work() -> str:
        return "done"

    assert await Drain().finish(work(), 5) == "done"


async def test_what_finishes_in_time_is_returned_and_what_a_graph_leaves_is_drained() -> None:
    drain = Drain()

    async def work(error: Exception | None) -> str:
        drain.request()
        await asyncio.sleep(0.05)
        if error:
            raise error
        return "done"

    assert await drain.finish(work(None), 5) == "done"
    with pytest.raises(Drained) as drained:
        await drain.finish(work(GraphDrained("SIGTERM")), 5)
    assert not drained.value.broken_off
    with pytest.raises(ValueError, match="a bug"):
        await drain.finish(work(ValueError("a bug")), 5)
    assert drain.control.drain_requested


@pytest.mark.parametrize("at_once", [False, True])
async def test_work_that_takes_too_long_is_cancelled(at_once: bool) -> None:
    drain, cleaned = Drain(), list[str]()

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.append("up")

    def ask() -> None:
        drain.request()
        if at_once:
            drain.request(at_once=True)

    timer = threading.Timer(0.05, ask)
    timer.start()
    async with asyncio.timeout(20):
        with pytest.raises(Drained) as drained:
            await drain.finish(work(), 30 if at_once else 0.1)
    timer.join()
    assert drained.value.broken_off
    assert cleaned == ["up"]


async def test_a_cancellation_from_elsewhere_is_none_of_the_drains() -> None:
    cleaned: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.append("up")

    waiting = asyncio.create_task(Drain().finish(work(), 5))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert cleaned == ["up"]


def test_a_signal_while_a_person_is_asked_ends_the_asking() -> None:
    drain = Drain()

    def ask() -> None:
        with drain.idle():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(30)

    with on_sigterm(drain):
        for _ in ("when the signal comes", "after it has come"):
            with pytest.raises(Drained):
                ask()
