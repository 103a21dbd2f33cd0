"""What a step finds in its journal when its thread is resumed, forked or kept elsewhere."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from forethought.graph.agent import build_agent
from forethought.journal import CHANNEL
from forethought.settings import Settings
from forethought.shutdown import Halt, Shutdown, sleep_unless_stopping
from forethought.state.agent import AgentState
from forethought.state.history import GraphCheckpoints, before_step, fork
from forethought.storage import address_of, open_threads
from forethought.tools.base import make_tool
from tests.support.crashes import Answers, Moment, Seen, Witness
from tests.support.paying import CONFIG, CONTEXT, TASK, World, name, reply, to_the_end

Json = dict[str, Any]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


async def broken_off(settings: Settings, *, paid: bool) -> Moment:
    """A thread that was killed in the middle of paying, before or after the effect."""
    seen = Seen()
    witness = Witness(seen)
    await to_the_end(World(seen, settings).graph(witness), seen)
    during = [moment for moment in witness.moments if _paying(moment)]
    return next(moment for moment in during if bool(moment.seen.effects) == paid)


def _paying(moment: Moment) -> bool:
    return len(moment.journal) == 1


async def waits(graph: Any) -> Json:
    """What the person is asked."""
    snapshot = await graph.aget_state(CONFIG)
    (asked,) = (item.value for item in snapshot.interrupts)
    return dict(asked)


async def test_the_question_says_what_was_called_and_a_reply_that_is_none_is_asked_for_again(
    settings: Settings,
) -> None:
    moment = await broken_off(settings, paid=True)
    graph = World(moment.seen, settings).graph(moment.saver)
    await graph.ainvoke(None, CONFIG, context=CONTEXT)
    asked = await waits(graph)
    assert asked["question"].startswith("This call did not finish and may have taken effect:")
    assert 'pay({"what": "rent"})' in asked["question"]
    assert asked["unknown"] == {"tool": "pay", "arguments": {"what": "rent"}, "effect": "write"}
    assert (asked["kind"], asked["n"], asked["subtask"], asked["id"]) == ("question", 1, "pay", "question-1")

    for wrong in ("approve", {"decision": "approve"}, {"decision": "answer", "value": "do it again (2)"}):
        await graph.ainvoke(Command(resume=wrong), CONFIG, context=CONTEXT)
        assert "the reply must be 'it happened'" in (await waits(graph))["problem"]
    assert len(moment.seen.effects) == 1


@pytest.mark.parametrize(
    ("said", "ok", "observed"),
    [
        ({"decision": "answer", "value": "It happened: receipt 7"}, True, "took effect and says: receipt 7"),
        ("it happened", True, "the person confirms that it took effect"),
        ({"decision": "reject", "reason": "too dear"}, False, "does not want to repeat it: too dear"),
        ("give up: never mind", False, "does not want to repeat it: never mind"),
    ],
    ids=["happened-with-more", "happened", "rejected", "given-up"],
)
async def test_what_the_person_says_of_a_broken_off_call_is_its_outcome(
    settings: Settings, said: Any, ok: bool, observed: str
) -> None:
    moment = await broken_off(settings, paid=True)
    graph = World(moment.seen, settings).graph(moment.saver)
    await graph.ainvoke(None, CONFIG, context=CONTEXT)
    await graph.ainvoke(Command(resume=said), CONFIG, context=CONTEXT)
    state = (await graph.aget_state(CONFIG)).values
    step = next(step for step in state["trajectory"] if step["n"] == 1)
    assert (step["ok"], step["cause"], step["origin"]) == (ok, "" if ok else "unknown", "user")
    assert observed in step["observation"]
    assert len(moment.seen.effects) == 1, "not made again, also where the agent proposes it again"
    assert ok == ("pay" in state["results"])


async def test_an_idempotency_key_is_the_same_when_a_call_is_made_again_and_another_after_a_fork(
    settings: Settings,
) -> None:
    moment = await broken_off(settings, paid=True)
    seen, graph = moment.seen, World(moment.seen, settings).graph(moment.saver)
    await graph.ainvoke(None, CONFIG, context=CONTEXT)
    await graph.ainvoke(Command(resume="do it again"), CONFIG, context=CONTEXT)
    assert len(seen.effects) == 2
    assert seen.effects[0] == seen.effects[1]

    checkpoints = GraphCheckpoints(graph, CONFIG)
    await fork(checkpoints, await before_step(checkpoints, 1))
    state, replies = await to_the_end(graph, seen)
    assert replies == [], "a fork does the step anew"
    assert state["status"] == "answered"
    assert len(seen.effects) == 3
    assert seen.effects[2] != seen.effects[1]


@asynccontextmanager
async def in_memory(path: Path) -> AsyncIterator[Any]:
    yield InMemorySaver()


@asynccontextmanager
async def in_sqlite(path: Path) -> AsyncIterator[Any]:
    async with AsyncSqliteSaver.from_conn_string(str(path / "plain.sqlite")) as saver:
        yield saver


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("opened", [in_memory, in_sqlite], ids=["memory", "sqlite"])
async def test_cancelled_in_a_write_a_thread_asks_wherever_it_is_kept(
    settings: Settings, tmp_path: Path, opened: Callable[[Path], Any], durability: Any
) -> None:
    seen, began = Seen(), asyncio.Event()

    async def pay(what: str) -> str:
        """Pay something.

        Args:
            what: What to pay.
        """
        seen.effects.append(what)
        began.set()
        await asyncio.sleep(60)
        return "paid"

    async with opened(tmp_path) as saver:
        look_up = World(seen, settings).tools()[1]
        tools = [make_tool(pay, effect="write"), look_up]
        graph: Any = build_agent(
            tools=tools, settings=settings, checkpointer=saver, transport=Answers(reply, name, seen)
        )
        run = asyncio.create_task(graph.ainvoke(TASK, CONFIG, context=CONTEXT, durability=durability))
        await began.wait()
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        await graph.ainvoke(None, CONFIG, context=CONTEXT, durability=durability)
        assert (await waits(graph))["unknown"]["tool"] == "pay"
        assert seen.effects == ["rent"]
        assert max(seen.asked.count(asked) for asked in seen.asked) == 1


async def test_a_write_that_waits_longer_for_a_model_than_the_drain_is_broken_off_and_the_person_asked(
    settings: Settings,
) -> None:
    seen, drain = Seen(), Shutdown()

    async def pay(what: str) -> str:
        """Pay something.

        Args:
            what: What to pay.
        """
        seen.effects.append(what)
        drain.request()
        await sleep_unless_stopping(600)
        return "paid"

    tools = [make_tool(pay, effect="write"), World(seen, settings).tools()[1]]
    graph: Any = build_agent(
        tools=tools, settings=settings, checkpointer=InMemorySaver(), transport=Answers(reply, name, seen)
    )
    with pytest.raises(Halt) as drained:
        await drain.finish(graph.ainvoke(TASK, CONFIG, context=CONTEXT, control=drain.control), 0.2)
    assert drained.value.broken_off
    await graph.ainvoke(None, CONFIG, context=CONTEXT)
    assert (await waits(graph))["unknown"]["tool"] == "pay"
    assert seen.effects == ["rent"]


async def test_in_every_database_the_journal_is_encrypted_and_goes_with_its_thread(
    settings: Settings, database: str
) -> None:
    seen = Seen()
    opened = settings.model_copy(update={"db": database})
    async with open_threads(address_of(opened), bytes(range(32))) as saver:
        graph: Any = build_agent(
            tools=World(seen, settings).tools(),
            settings=settings,
            checkpointer=saver,
            transport=Answers(reply, name, seen),
        )
        await to_the_end(graph, seen)
        table, column = saver.contents[-1]
        rows = await saver.rows(f"SELECT type, {column} FROM {table} WHERE channel = ?", [CHANNEL])
        kept = [str(saver.serde.loads_typed((kind, bytes(value)))) for kind, value in rows]
        assert len(kept) == 2, "an intent and an outcome of the one call that changes something"
        assert "paid rent" in "".join(kept)
        assert not [row for row in rows if b"paid rent" in bytes(row[1])], "encrypted"

        await saver.adelete_thread("t")
        assert await saver.rows(f"SELECT 1 FROM {table}") == []


@pytest.mark.parametrize(("own", "kept"), [(None, True), (False, False)], ids=["subgraph", "uncheckpointed"])
async def test_inside_another_graph_a_journal_is_kept_where_its_checkpoints_are(
    settings: Settings, own: bool | None, kept: bool
) -> None:
    seen = Seen()
    witness = Witness(seen)
    outer: Any = StateGraph(AgentState)
    outer.add_node("agent", World(seen, settings).graph(own))
    outer.add_edge(START, "agent")
    outer.add_edge("agent", END)
    compiled = outer.compile(checkpointer=witness)
    async with asyncio.timeout(20):
        result = await compiled.ainvoke(TASK, CONFIG, context=CONTEXT)
    assert result["status"] == "answered"
    assert bool(witness.moments[-1].journal) == kept


class Slow(Witness):
    """Its checkpoints are on their way for a while, and its other writes are not."""

    async def aput(self, config: RunnableConfig, *rest: Any) -> RunnableConfig:
        """See InMemorySaver."""
        await asyncio.sleep(0.03)
        return await super().aput(config, *rest)


@pytest.mark.parametrize("durability", ["sync", "async"])
async def test_killed_right_after_an_effect_the_thread_asks_also_while_its_checkpoint_was_on_its_way(
    settings: Settings, durability: Any
) -> None:
    seen = Seen()
    saver = Slow(seen)
    left: list[Moment] = []

    async def pay(what: str) -> str:
        """Pay something.

        Args:
            what: What to pay.
        """
        seen.effects.append(what)
        left.append(Moment(saver.left(), copy.deepcopy(seen)))
        return "paid"

    tools = [make_tool(pay, effect="write"), World(seen, settings).tools()[1]]
    transport = Answers(reply, name, seen)
    graph: Any = build_agent(tools=tools, settings=settings, checkpointer=saver, transport=transport)
    await graph.ainvoke(TASK, CONFIG, context=CONTEXT, durability=durability)

    (moment,) = left
    state, replies = await to_the_end(World(moment.seen, settings).graph(moment.saver), moment.seen)
    assert (state["status"], replies, len(moment.seen.effects)) == ("answered", ["it happened"], 1)
