"""Workers: each task once, whatever becomes of the worker that began it."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from langgraph.types import Command

from forethought.batch import BatchTask, cancel, progress_of, retry
from forethought.batch.queue import enqueue
from forethought.graph.agent import build_agent
from forethought.graph.resume import run_options
from forethought.models.types import ConfigurationError
from forethought.shutdown import Shutdown
from forethought.state.context import Context
from tests.forethought.batch.conftest import MakeBench, script
from tests.support.model_server import Fault, SeenRequest
from tests.support.replies import answer, call, finish, plan, sub

CALLS = ["Plan", "PlanDiagnosis", "ToolChoice", "AnswerDraft"]
SENDING = """
import asyncio
from forethought.tools.base import make_tool

made = []

async def send(what: str) -> str:
    '''Send it.

    Args:
        what: What.
    '''
    made.append(what)
    await asyncio.sleep(60)
    return "sent"

TOOLS = [make_tool(send, effect="write")]
"""


async def until(done: Callable[[], Any], what: str) -> None:
    """Wait until `done()` is true."""
    for _ in range(1500):
        if done():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"waited in vain for {what}")


async def test_every_task_is_carried_out_once_and_counted(bench: MakeBench) -> None:
    async with bench() as b:
        done = await b.submit("task-one", "task-two", "task-three")
        assert (done.id, done.tasks, done.added, done.known) == ("b", 3, 3, 0)
        assert dict(await b.work()) == {"done": 3}
        for name in ("one", "two", "three"):
            assert (await b.values(f"b:task-{name}"))["answer"] == "the answer"
            assert b.asked(f"task-{name}") == CALLS
        found = await progress_of(b.queue, "b")
        assert found.states == {
            "todo": 0, "doing": 0, "done": 3, "waiting": 0, "failed": 0, "cancelled": 0,
        }  # fmt: skip
        assert (found.calls, found.input_tokens, found.output_tokens) == (12, 1200, 240)
        assert (found.unpriced, found.seconds_left) == (12, None)
        assert found.per_minute > 0
        assert dict(await b.work()) == {}, "nothing is open"


async def test_a_thread_that_another_worker_left_is_gone_on_with(bench: MakeBench) -> None:
    held = threading.Event()

    def answers(seen: SeenRequest) -> Any:
        if not held.is_set():
            held.set()
            return Fault("hang")
        return answer()

    async with bench(script(answers=answers)) as b:
        await b.submit("task-one")
        working = asyncio.create_task(b.work())
        await until(held.is_set, "the last call")
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        assert await b.states() == {"task-one": "todo"}, "it is in the queue again at once"
        assert dict(await b.work()) == {"done": 1}
        assert b.asked("task-one") == [*CALLS, "AnswerDraft"], "only the call under way is made again"


async def test_sigterm_lets_calls_finish_and_puts_the_jobs_back(bench: MakeBench) -> None:
    shutdown = Shutdown()

    def moves(seen: SeenRequest) -> Any:
        shutdown.request()
        time.sleep(0.3)
        return finish("seen")

    async with bench(script(moves={"a": moves})) as b:
        await b.submit("task-one", "task-two")
        assert dict(await b.work(shutdown, concurrency=1)) == {}
        assert b.put_back == [("b:task-one", "stopped by SIGTERM")]
        assert await b.states() == {"task-one": "todo", "task-two": "todo"}
        assert await b.work() == {"done": 2}
        assert b.asked("task-one") == CALLS, "the call under way was kept"
        tries = await b.queue.threads.rows("SELECT tries FROM forethought_jobs")
        assert tries == [(1,), (1,)], "a stop in order is no failure"


async def test_a_job_that_asks_a_person_waits_and_holds_nobody_up(bench: MakeBench) -> None:
    asks = call("a", tool="ask_user", question="Which colour?", choices=[])
    policy = script(
        plans=lambda seen: plan(sub("q" if "colour" in seen.text else "a")),
        moves={"q": [asks], "a": [finish("seen")]},
    )
    async with bench(policy) as b:
        await b.submit("a-colour", "task-two")
        assert await b.work(concurrency=1) == {"waiting": 1, "done": 1}
        calls = len(b.server.requests)
        assert await retry(b.queue) == 1
        assert (await b.work(), len(b.server.requests)) == ({"waiting": 1}, calls), "nobody has replied"
        graph = build_agent(settings=b.settings, checkpointer=b.queue.threads)
        await graph.ainvoke(
            Command(resume="red"),
            {"configurable": {"thread_id": "b:a-colour"}},
            context=Context(model="openai:scripted"),
        )
        assert await retry(b.queue) == 1
        calls = len(b.server.requests)
        assert await b.work() == {"done": 1}
        assert len(b.server.requests) == calls, "the person's resume had ended it"


async def test_a_change_in_which_its_worker_is_killed_is_not_made_again(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sending.py").write_text(SENDING)
    monkeypatch.syspath_prepend(tmp_path)
    moves = [call("a", tool="send", what="x"), finish("seen")]
    async with bench(script(moves={"a": moves}), tools="sending") as b:
        context = Context(model="openai:scripted", approve_tools="never")
        await b.submit("task-one", context=context)
        working = asyncio.create_task(b.work())
        await until(lambda: "sending" in sys.modules and sys.modules["sending"].made, "the call")
        with pytest.MonkeyPatch.context() as patch:  # a kill writes nothing more
            for name in ("aput", "aput_writes"):
                patch.setattr(type(b.queue.threads), name, AsyncMock())
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

        assert await b.work() == {"waiting": 1}
        graph = build_agent(settings=b.settings, checkpointer=b.queue.threads)
        config: Any = {"configurable": {"thread_id": "b:task-one"}}
        (asked,) = (await graph.aget_state(config)).interrupts
        assert "may have taken effect" in asked.value["question"]
        await graph.ainvoke(Command(resume={asked.id: "it happened"}), config, context=context)
        assert await retry(b.queue) == 1
        assert await b.work() == {"done": 1}
        assert sys.modules["sending"].made == ["x"]


async def test_a_provider_that_is_down_is_asked_again_later_and_a_refused_key_is_not(
    bench: MakeBench,
) -> None:
    faults = {"down": ["503", "503"], "refused": ["401"]}

    def plans(seen: SeenRequest) -> Any:
        for name, left in faults.items():
            if f"{name}\n" in seen.text and left:
                return Fault(left.pop())
        return plan(sub("a"))

    async with bench(script(plans=plans)) as b:
        await b.submit("down", "refused")
        assert await b.work() == {"done": 1, "failed": 1}
        assert [thread for thread, _ in b.put_back] == ["b:down", "b:down"]
        ended = b.ended["b:refused"]
        assert (ended.outcome, ended.refused) == ("failed", True)
        assert "401" in ended.error
        assert await retry(b.queue) == 1
        assert await b.work() == {"done": 1}, "the key is mended"
        assert b.asked("refused")[1:] == CALLS


async def test_a_job_that_has_ended_is_not_run_again_whatever_the_queue_says(bench: MakeBench) -> None:
    """As when a worker is killed after it has kept how a job ended, and before the queue knows."""
    async with bench(script(plans=lambda seen: Fault("400"))) as b:
        await b.submit("one")
        assert await b.work() == {"failed": 1}
        async with b.queue.threads.pool.connection() as connection, connection.transaction():
            await enqueue(b.queue, connection, ["b:one"])
        calls = len(b.server.requests)
        assert await b.work() == {}
        assert (await b.states(), len(b.server.requests)) == ({"one": "failed"}, calls)


async def test_tries_are_bounded(bench: MakeBench) -> None:
    async with bench(script(plans=lambda seen: Fault("503"))) as b:
        await b.submit("down")
        assert await b.work() == {"failed": 1}
        assert (len(b.put_back), len(b.server.requests)) == (2, 3)
        assert "503" in b.ended["b:down"].error
        b.server.policy = script()
        assert await retry(b.queue, "other") == 0
        assert await retry(b.queue) == 1
        assert await retry(b.queue) == 0, "it is in the queue already"
        assert await b.work() == {"done": 1}


async def test_a_job_that_kills_its_workers_is_given_up(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("poison")
        await b.queue.threads.rows("UPDATE forethought_jobs SET tries = 3")
        assert await b.work() == {"failed": 1}
        assert (
            b.ended["b:poison"].error
            == "gave up after 3 attempts that did not end; try again with: forethought jobs --retry"
        )
        assert b.server.requests == []


async def test_a_worker_that_can_ask_no_model_stops(bench: MakeBench) -> None:
    async with bench(script(plans=lambda seen: Fault("401"))) as b:
        await b.submit(*(f"task-{number}" for number in range(8)))
        with pytest.raises(ConfigurationError, match=r"3 jobs in a row failed.*401.*jobs --retry"):
            await b.work(concurrency=1)
        assert (await progress_of(b.queue)).states["todo"] == 5


async def test_files_come_to_a_worker_that_shares_no_folder(bench: MakeBench, tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_text("the colour is red")
    reads = call("a", tool="read_file", path="note.txt", question=None, part=1)
    async with bench(script(moves={"a": [reads]})) as b:
        await b.submit(BatchTask(id="f", task="Read it", files=(str(path),)))
        path.unlink()
        b.settings = b.settings.model_copy(update={"data_dir": tmp_path / "machine2"})
        assert await b.work() == {"done": 1}
        step = (await b.values("b:f"))["trajectory"][0]
        assert "the colour is red" in str(step), step


async def test_a_job_is_bounded_by_the_worker_that_carries_it_out(bench: MakeBench) -> None:
    """Whatever the bounds were where it was submitted; a `resume` of its thread is bounded alike."""
    async with bench() as b:
        await b.submit("task-one", context=Context(model="openai:scripted", max_tokens=900_000))
        bounds = {"max_tokens": 50_000, "require_plan_approval": True, "least_approval": "always"}
        b.settings = b.settings.model_copy(update=bounds)
        assert await b.work() == {"waiting": 1}
        assert b.asked("task-one") == CALLS[:2], "its plan waits for approval"
        graph = build_agent(settings=b.settings, checkpointer=b.queue.threads)
        snapshot = await graph.aget_state({"configurable": {"thread_id": "b:task-one"}})
        kept = run_options(snapshot.metadata).context
        assert (kept["max_tokens"], kept["approve_plan"], kept["approve_tools"]) == (50_000, True, "always")


async def test_a_job_whose_thread_a_person_holds_is_left_for_later(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("task-one")
        async with b.queue.threads.claim("b:task-one"):
            shutdown = Shutdown()
            working = asyncio.create_task(b.work(shutdown))
            await until(lambda: b.put_back, "the job to be put back")
            shutdown.request()
            await working
        assert "is running in another process" in b.put_back[0][1]
        assert await b.states() == {"task-one": "todo"}
        assert await b.queue.threads.rows("SELECT tries FROM forethought_jobs") == [(0,)]


async def test_what_waits_in_the_queue_is_cancelled(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("one")
        await b.submit("never", batch="c")
        assert await cancel(b.queue, "c") == 1
        assert await b.work() == {"done": 1}
        assert await b.states() == {"one": "done", "never": "cancelled"}
        assert (await cancel(b.queue), await retry(b.queue)) == (0, 0)
