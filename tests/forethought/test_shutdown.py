"""`Shutdown`: work that is let finish, given up after its time, or broken off."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from operator import add
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphDrained
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from forethought.models import Message, Models
from forethought.models.live import LiveTransport
from forethought.models.retry import Backoff
from forethought.nodes.support.intra_reflection import unscored_spec
from forethought.prompts.replies import AnswerDraft
from forethought.settings import Settings
from forethought.shutdown import (
    Halt,
    Shutdown,
    finish_when_stopping,
    on_sigterm,
    sleep_unless_stopping,
)
from tests.support.model_server import Answer, Fault, SeenRequest


class Notes(TypedDict):
    notes: Annotated[list[str], add]


async def test_what_finishes_in_time_is_returned_and_what_a_graph_leaves_is_drained() -> None:
    drain = Shutdown()

    async def work(error: Exception | None) -> str:
        drain.request()
        await asyncio.sleep(0.05)
        if error:
            raise error
        return "done"

    assert await drain.finish(work(None), 5) == "done"
    with pytest.raises(Halt) as drained:
        await drain.finish(work(GraphDrained("SIGTERM")), 5)
    assert not drained.value.broken_off
    with pytest.raises(ValueError, match="a bug"):
        await drain.finish(work(ValueError("a bug")), 5)
    assert drain.control.drain_requested


@pytest.mark.parametrize("at_once", [False, True])
async def test_work_that_takes_too_long_is_cancelled(at_once: bool) -> None:
    drain, cleaned = Shutdown(), list[str]()

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
        with pytest.raises(Halt) as drained:
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

    waiting = asyncio.create_task(Shutdown().finish(work(), 5))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert cleaned == ["up"]


def test_a_signal_while_a_person_is_asked_ends_the_asking() -> None:
    drain = Shutdown()

    def ask() -> None:
        with drain.idle():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(30)

    with on_sigterm(drain):
        for _ in ("when the signal comes", "after it has come"):
            with pytest.raises(Halt):
                ask()


async def test_a_wait_for_a_retry_ends_with_the_drain_and_its_sibling_comes_to_its_end() -> None:
    drain, saver = Shutdown(), InMemorySaver()
    ran: Counter[str] = Counter()

    async def waits(state: Notes) -> Notes:
        ran["waits"] += 1
        if ran["waits"] == 1:
            drain.request()
            await sleep_unless_stopping(600)
        return {"notes": ["waited"]}

    async def works(state: Notes) -> Notes:
        ran["works"] += 1
        await asyncio.sleep(0.3)
        return {"notes": ["worked"]}

    builder = StateGraph(Notes)
    for node in (waits, works):
        builder.add_node(node.__name__, node)
        builder.add_edge(START, node.__name__)
    graph: Any = builder.compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "t"}}
    with pytest.raises(Halt) as drained:
        await drain.finish(graph.ainvoke({"notes": []}, config, control=drain.control), 60)
    assert not drained.value.broken_off
    assert sorted((await graph.ainvoke(None, config))["notes"]) == ["waited", "worked"]
    assert ran == {"waits": 2, "works": 1}


async def test_no_request_is_begun_while_draining(
    model_server: Any, settings: Callable[..., Settings]
) -> None:
    drain = Shutdown()

    def policy(seen: SeenRequest) -> Answer:
        drain.request()
        return Fault("429", retry_after="0.05")

    server = model_server(policy)
    models = Models(settings(server), LiveTransport(settings(server), Backoff(0.01, 0.02)))

    async def ask(state: Notes) -> Notes:
        question = [Message("user", "?")]
        asked = await models.ask(role="tool", model="m", messages=question, reply=unscored_spec(AnswerDraft))
        return {"notes": [asked.reply.answer]}

    graph: Any = StateGraph(Notes).add_node(ask).add_edge(START, "ask").compile()
    with pytest.raises(Halt):
        await drain.finish(graph.ainvoke({"notes": []}, control=drain.control), 60)
    assert len(server.requests) == 1


async def test_outside_of_a_graph_a_wait_is_a_wait() -> None:
    started = time.monotonic()
    await sleep_unless_stopping(0.05)
    assert time.monotonic() - started >= 0.05


async def test_what_has_begun_waits_for_its_end_and_what_follows_does_not() -> None:
    drain, waited = Shutdown(), list[str]()

    async def works(state: Notes) -> Notes:
        drain.request()
        with finish_when_stopping():
            await asyncio.create_task(sleep_unless_stopping(0.05))
            waited.append("within the call")
        await sleep_unless_stopping(600)
        return {"notes": []}

    graph: Any = StateGraph(Notes).add_node(works).add_edge(START, "works").compile()
    with pytest.raises(Halt) as drained:
        await drain.finish(graph.ainvoke({"notes": []}, control=drain.control), 60)
    assert (waited, drained.value.broken_off) == (["within the call"], False)
