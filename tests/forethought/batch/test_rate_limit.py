"""The rate limit: never over it, however the minute is cut, and over all processes."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.graph import START, StateGraph
from psycopg_pool import PoolTimeout

from forethought.batch import open_queue
from forethought.batch.rate_limit import Bucket, RateLimit
from forethought.batch.rate_limited import RateLimited, estimate, transport_of
from forethought.models import Message, ModelRequest, Models, reply_spec
from forethought.models.live import LiveTransport
from forethought.models.retry import Backoff
from forethought.models.types import OutOfTime
from forethought.prompts.replies import AnswerUnscored
from forethought.settings import Settings
from forethought.shutdown import Halt, Shutdown
from forethought.state.context import Context
from tests.forethought.batch.conftest import MakeBench
from tests.support.model_server import Fault, script
from tests.support.processes import Start

MODEL = "openai:scripted"
TAKE = """
import asyncio, sys, time
import psycopg
from forethought.batch.rate_limit import RateLimit

async def take():
    async with await psycopg.AsyncConnection.connect(sys.argv[1], autocommit=True) as connection:
        async def rows(query, given):
            cursor = await connection.execute(query.replace("?", "%s"), given)
            return await cursor.fetchall() if cursor.description else []

        limit = RateLimit(rows, requests_per_minute=int(sys.argv[2]))
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        for _ in range(int(sys.argv[3])):
            await limit.take("m", 0)
            print(time.time(), flush=True)

asyncio.run(take())
"""


class Told(RateLimit):
    """A limit that remembers what it was asked."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.taken, self.settled = list[int](), list[int]()

    async def take(self, model: str, tokens: int, deadline: float = math.inf) -> None:
        self.taken.append(tokens)
        await super().take(model, tokens, deadline)

    async def settle(self, model: str, more: int) -> None:
        self.settled.append(more)
        await super().settle(model, more)


@given(st.integers(1, 5_000), st.lists(st.floats(0, 200), max_size=60))
def test_no_minute_has_more_requests_than_the_limit(limit: int, pauses: list[float]) -> None:
    """Someone who takes all there is, and pauses now and then."""
    bucket, level, now, taken = Bucket.of(limit), float(limit), 0.0, list[float]()
    level = bucket.most
    for pause in [0.0, *pauses]:
        now, level = now + pause, min(bucket.most, level + bucket.a_second * pause)
        for _ in range(min(3 * limit, 150)):
            wait = bucket.wait_s(level, 0, 1)
            now, level = now + wait, min(bucket.most, level + bucket.a_second * wait) - 1
            taken.append(now)
    for at in range(len(taken)):
        if at + limit < len(taken):
            assert taken[at + limit] - taken[at] >= 60 * (1 - 1e-6)


async def test_the_bucket_in_the_database_is_that_bucket(bench: MakeBench) -> None:
    """Time is made to pass by setting the bucket's own clock back."""
    async with bench() as b:
        for limit in (1, 7, 60):
            rate, model, now, taken = RateLimit(b.queue.threads.rows, limit), f"m{limit}", 0.0, list[float]()
            while len(taken) < 2 * limit + 2:
                wait = await rate.try_take(model, 0)
                if not wait:
                    taken.append(now)
                    continue
                now += wait
                await b.queue.threads.rows(
                    "UPDATE forethought_rates SET at = at - ? * interval '1 s' WHERE model = ?", (wait, model)
                )
            # The statements themselves take a little time that is not counted.
            assert min(late - early for early, late in zip(taken, taken[limit:], strict=False)) > 57


async def test_tokens_are_limited_and_put_right_by_the_reply(bench: MakeBench) -> None:
    async with bench() as b:
        limit = RateLimit(b.queue.threads.rows, tokens_per_minute=60_000)
        assert limit.tokens.most == 3_000
        assert await limit.try_take("m", 2_000) == 0
        assert 0.5 < await limit.try_take("m", 2_000) < 2
        assert await limit.try_take("other", 2_000) == 0, "each model has its own"
        await limit.settle("m", -2_000)
        assert await limit.try_take("m", 2_000) == 0, "it took less than was thought"
        await limit.settle("m", 9_000)
        assert await limit.try_take("m", 1) > 5
        assert await limit.try_take("huge", 50_000) == 0, "from a full bucket; who comes next pays for it"
        assert await limit.try_take("huge", 1) > 40


async def test_two_processes_together_keep_the_limit(postgres: str, python: Start) -> None:
    async with open_queue(Settings(db=postgres)):
        pass
    limit, each = 2_400, 80
    both = [python(TAKE, postgres, str(limit), str(each)) for _ in range(2)]
    for process in both:
        assert process.stdout is not None
        assert await asyncio.to_thread(process.stdout.readline) == "ready\n"
    for process in both:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    told = [await asyncio.to_thread(process.communicate) for process in both]
    times = sorted(float(line) for out, _ in told for line in out.split())
    bucket = Bucket.of(limit)
    assert len(times) == 2 * each, told
    least = (2 * each - bucket.most) / bucket.a_second
    assert times[-1] - times[0] > least * 0.95


async def test_each_retry_of_a_request_is_counted(bench: MakeBench) -> None:
    async with bench(script(Fault("503"), Fault("503"), "hello"), request_retries=5) as b:
        limit = Told(b.queue.threads.rows, requests_per_minute=600)
        transport = RateLimited(b.settings, limit, Backoff(0.01, 0.01))
        request = ModelRequest("tool", MODEL, (Message("user", "x" * 400),), "Plan", {})
        assert (await transport.send(request)).text == "hello"
        assert len(b.server.requests) == 3
        assert limit.taken == [estimate(request)] * 3
        assert limit.settled == [120 - estimate(request)], "the reply says what it was"


async def test_a_worker_keeps_the_limit_that_is_set(bench: MakeBench) -> None:
    async with bench(requests_per_minute=480) as b:
        await b.submit("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
        began = asyncio.get_running_loop().time()
        assert await b.work() == {"done": 10}
        bucket = Bucket.of(480)
        assert asyncio.get_running_loop().time() - began > (40 - bucket.most) / bucket.a_second * 0.9
        assert isinstance(transport_of(b.settings, b.queue.threads.rows), RateLimited)
        unlimited = b.settings.model_copy(update={"requests_per_minute": None})
        assert isinstance(transport_of(unlimited, b.queue.threads.rows), LiveTransport)


async def test_a_database_that_is_gone_is_no_failure_of_the_model(bench: MakeBench) -> None:
    """It is neither retried as one, nor does it lose a reply that is paid for."""
    gone, asked = True, 0

    async def rows(query: str, given: Any) -> Any:
        nonlocal asked
        asked += 1
        if gone:
            raise PoolTimeout("couldn't get a connection after 30.00 sec")
        return await b.queue.threads.rows(query, given)

    async with bench(script(*["sure"] * 9), request_retries=3) as b:
        limit = RateLimit(rows, requests_per_minute=600)
        transport = RateLimited(b.settings, limit, Backoff(0.01, 0.01))
        request = ModelRequest("tool", MODEL, (Message("user", "x"),), "Plan", {})
        with pytest.raises(PoolTimeout):
            await transport.send(request)
        assert (asked, b.server.requests) == (1, [])
        gone = False

        async def lost(model: str, tokens: int) -> None:
            raise PoolTimeout("couldn't get a connection after 30.00 sec")

        limit.settle = lost  # type: ignore[method-assign]
        assert (await transport.send(request)).text == "sure"


async def test_no_wait_is_begun_that_ends_after_the_deadline(bench: MakeBench) -> None:
    async with bench() as b:
        limit = RateLimit(b.queue.threads.rows, requests_per_minute=1)
        await limit.take("m", 0, time.monotonic() - 1)
        began = time.monotonic()
        with pytest.raises(OutOfTime, match=r"^model m: .* rate limit .*; the time of the task is spent$"):
            await limit.take("m", 0, began + 30)
        assert time.monotonic() - began < 20


async def test_who_never_gets_a_turn_waits_until_the_deadline() -> None:
    class Taken(RateLimit):
        """Others are always quicker."""

        async def try_take(self, model: str, tokens: int) -> float:
            return 0.05

    async def none(query: str, given: Any) -> Any:
        raise AssertionError

    began = time.monotonic()
    with pytest.raises(OutOfTime):
        async with asyncio.timeout(20):
            await Taken(none).take("m", 0, began + 0.3)
    assert time.monotonic() - began > 0.2


async def test_a_worker_that_is_to_stop_waits_for_no_turn_and_no_model_has_failed(
    model_server: Any, settings: Any
) -> None:
    drain, turns = Shutdown(), list[str]()

    class Full(RateLimit):
        """There is no room for a long time; meanwhile the SIGTERM comes."""

        async def try_take(self, model: str, tokens: int) -> float:
            turns.append(model)
            drain.request()
            return 600.0

    async def none(query: str, given: Any) -> Any:
        raise AssertionError

    server = model_server(script("hello"))
    models = Models(settings(server), RateLimited(settings(server), Full(none)))

    async def ask(state: dict[str, Any]) -> None:
        question = [Message("user", "?")]
        await models.ask(
            role="tool",
            model=MODEL,
            fallback="openai:other",
            messages=question,
            reply=reply_spec(AnswerUnscored),
        )

    graph: Any = StateGraph(dict).add_node(ask).add_edge(START, "ask").compile()
    with pytest.raises(Halt) as drained:
        await drain.finish(graph.ainvoke({}, control=drain.control), 5)
    assert not drained.value.broken_off
    assert (turns, server.requests) == ([MODEL], [])


async def test_a_task_whose_time_the_limit_would_take_is_answered_from_the_reserve(bench: MakeBench) -> None:
    """The model's minute is used up by other workers; the answer has a model of its own."""
    context = Context(model=MODEL, answer_model="openai:other", max_seconds=30, max_steps=9)
    async with bench(requests_per_minute=1) as b:
        insert = "INSERT INTO forethought_rates (model, requests, tokens) VALUES (?, ?, ?)"
        await b.queue.threads.rows(insert, (MODEL, -9, 0))
        await b.submit("one", context=context)
        async with asyncio.timeout(30):
            assert await b.work() == {"done": 1}
        (ended,) = b.ended.values()
        values = await b.values("b:one")
        assert (ended.status, values["progress"]["stopped"]) == ("budget_exhausted", "seconds")
        assert values["answer"] == "the answer"
        assert b.asked("one") == ["AnswerDraft"]
