"""A job's task is carried out itself, whatever else a person has its thread do."""

from __future__ import annotations

from typing import Any

import pytest

from forethought.batch import BatchTask, cancel, retry
from forethought.batch.own_task import is_present
from tests.forethought.batch.conftest import Bench, MakeBench, script
from tests.forethought.batch.test_worker import CALLS
from tests.support.model_server import Fault
from tests.support.replies import call, plan, sub

OTHER = "something by hand"


async def test_a_cancelled_job_runs_though_its_thread_has_had_another_task(
    bench: MakeBench,
) -> None:
    async with bench() as b:
        await b.submit("own")
        await cancel(b.queue, thread_id="b:own")
        await b.by_hand("b:own", {"task": OTHER})
        assert await b.states() == {"own": "cancelled"}
        assert await retry(b.queue, cancelled=True) == 1
        assert await b.work() == {"done": 1}
        assert b.asked("own") == CALLS
        values = await b.values("b:own")
        assert (values["task"], values["progress"]["task"]) == ("own", 2)


async def test_what_a_person_ran_while_the_job_was_in_the_queue_is_not_its_answer(bench: MakeBench) -> None:
    async with bench() as b:
        await b.submit("own")
        await b.by_hand("b:own", {"task": OTHER})
        assert await b.work() == {"done": 1}
        assert b.asked("own") == CALLS


async def test_a_task_that_had_its_turn_is_not_carried_out_again(bench: MakeBench) -> None:
    """As when a worker is killed before it has kept how the job ended, and a person goes on first."""
    async with bench() as b:
        await b.submit("own")
        await b.work()
        await b.by_hand("b:own", {"task": OTHER})
        await b.queue.threads.rows("UPDATE forethought_jobs SET outcome = 'failed'")
        assert await retry(b.queue) == 1
        asked = len(b.server.requests)
        assert await b.work() == {"done": 1}
        assert (b.ended["b:own"].status, len(b.server.requests)) == ("answered", asked)


async def _failed(b: Bench) -> None:
    b.server.policy.plans = [Fault("badjson")]
    await b.submit("own")
    assert await b.work() == {"failed": 1}
    b.server.policy.plans = lambda seen: plan(sub("a"))


async def test_a_failed_job_is_not_done_by_another_task_and_has_its_turn_later(bench: MakeBench) -> None:
    async with bench(script()) as b:
        await _failed(b)
        await b.by_hand("b:own", {"task": OTHER})
        assert await b.states() == {"own": "failed"}
        assert await retry(b.queue) == 1
        assert await b.work() == {"done": 1}
        assert is_present(await b.values("b:own"), "own")


async def test_a_failed_job_that_has_called_tools_is_not_begun_anew(bench: MakeBench) -> None:
    async with bench(script()) as b:
        await _failed(b)
        await b.by_hand("b:own", {"task": OTHER})
        from forethought.graph.agent import build_agent

        graph = build_agent(settings=b.settings, checkpointer=b.queue.threads)
        made = {**(await b.values("b:own"))["trajectory"][0], "task": 1, "tool": "send"}
        config: Any = {"configurable": {"thread_id": "b:own"}}
        await graph.aupdate_state(config, {"trajectory": [made]}, as_node="lesson_keeper")
        assert await retry(b.queue) == 1
        asked = len(b.server.requests)
        assert await b.work() == {"failed": 1}
        assert "it is not begun anew, since it has called tools" in b.ended["b:own"].error
        assert len(b.server.requests) == asked


async def test_another_task_that_has_not_ended_is_ended_by_its_person_first(bench: MakeBench) -> None:
    asks = call("a", tool="ask_user", question="Which colour?", choices=[])
    policy = script(plans=[plan(sub("q"))], moves={"q": [asks]})
    async with bench(policy) as b:
        await b.submit(BatchTask(id="own", task="paint it"))
        await b.by_hand("b:own", {"task": OTHER})
        assert await b.work() == {"failed": 1}
        told = b.ended["b:own"].error
        assert "has another task, which has not ended: end that with forethought resume b:own" in told
        assert b.asked("paint it") == []


async def test_a_job_whose_worker_was_killed_as_it_began_is_begun(bench: MakeBench) -> None:
    from forethought.graph.agent import build_agent

    async with bench() as b:
        await b.submit("own")
        graph = build_agent(settings=b.settings, checkpointer=b.queue.threads)
        config: Any = {"configurable": {"thread_id": "b:own"}}
        given = {"task": "own", "files": []}
        async with b.queue.threads.claim("b:own"):
            async for _ in graph.astream(given, config, stream_mode="checkpoints", durability="sync"):
                break
        left = await graph.aget_state(config)
        assert [task.name for task in left.tasks] == ["__start__"]
        assert await b.work() == {"done": 1}
        assert (await b.values("b:own"))["progress"]["task"] == 1


async def test_no_batch_takes_a_thread_for_its_own_that_it_has_not_made(bench: MakeBench) -> None:
    async with bench() as b:
        await b.by_hand("b:own", {"task": OTHER})
        with pytest.raises(ValueError, match="a thread b:own exists already, and no job made it"):
            await b.submit("first", "own")
        assert await b.states() == {}, "nothing was added"
        assert (await b.submit("own", batch="c")).added == 1
