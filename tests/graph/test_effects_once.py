"""A change is made once, whatever a person is asked of it, and wherever the run is broken off."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from forethought.graph.agent import build_agent
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.tools.base import ToolEnv, make_tool
from tests.support.crashes import Answers, Moment, Seen, Witness
from tests.support.paying import CONFIG, CONTEXT, TASK, World, name, reply
from tests.support.replies import call

Json = dict[str, Any]
APPROVED = CONTEXT.model_copy(update={"approve_tools": "always"})


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


async def asked(graph: Any) -> Json | None:
    """What the person is asked; None for nothing."""
    interrupts = (await graph.aget_state(CONFIG)).interrupts
    return dict(interrupts[0].value) if interrupts else None


async def answer_to(graph: Any, said: Any, by_id: bool) -> Command[Any]:
    """A reply, to whatever waits or to the one interrupt by its id, as a client may send it."""
    (waiting,) = (await graph.aget_state(CONFIG)).interrupts
    return Command(resume={waiting.id: said} if by_id else said)


class Desk:
    """A tool that pays, which can be broken off in the middle."""

    def __init__(
        self, settings: Settings, ask: str = "", then: Callable[..., Any] = reply, **options: Any
    ) -> None:
        self.effects: list[str] = []
        self.ids: list[str] = []
        self.seen = Seen()
        self.began, self.hangs, self._ask = asyncio.Event(), True, ask
        self.graph: Any = build_agent(
            tools=[
                make_tool(self.pay, **(options or {"effect": "write"})),
                World(self.seen, settings).tools()[1],
            ],
            settings=settings,
            checkpointer=InMemorySaver(),
            transport=Answers(then, name, self.seen),
        )

    async def pay(self, env: ToolEnv, what: str) -> str:
        """Pay something.

        Args:
            what: What to pay.
        """
        said = env.ask(self._ask, ["yes", "no"]) if self._ask and env.ask else "yes"
        if said != "yes":
            return f"not paid: {said}"
        self.effects.append(what)
        self.ids.append(env.call_id)
        self.began.set()
        if self.hangs:
            await asyncio.sleep(60)
        return f"paid {what}"

    async def go(self, given: Any, context: Context, durability: Any = "sync") -> None:
        """Run until the graph ends or waits."""
        await self.graph.ainvoke(given, CONFIG, context=context, durability=durability)

    async def broken_off(self, given: Any, context: Context) -> None:
        """Run until the effect, and no further."""
        self.began.clear()
        run = asyncio.create_task(self.go(given, context))
        await asyncio.wait_for(self.began.wait(), 20)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)

    async def step(self) -> Json:
        """The payment's."""
        state = (await self.graph.aget_state(CONFIG)).values
        return next(step for step in state["trajectory"] if step["n"] == 1)


either_way = pytest.mark.parametrize("by_id", [False, True], ids=["plain", "by-id"])
approved_or_edited = pytest.mark.parametrize(
    ("decision", "paid"),
    [("approve", "rent"), ({"decision": "edit", "value": {"what": "heating"}}, "heating")],
    ids=["approved", "edited"],
)


@either_way
@approved_or_edited
async def test_of_an_approved_call_that_was_broken_off_the_outcome_is_asked_and_no_approval(
    settings: Settings, by_id: bool, decision: Any, paid: str
) -> None:
    desk = Desk(settings)
    await desk.go(TASK, APPROVED)
    await desk.broken_off(await answer_to(desk.graph, decision, by_id), APPROVED)
    assert await asked(desk.graph) is None, "what was approved is asked no more"
    await desk.go(None, APPROVED)
    question = await asked(desk.graph)
    assert question
    assert question["unknown"] == {"tool": "pay", "arguments": {"what": paid}, "effect": "write"}
    await desk.go(await answer_to(desk.graph, "it happened: receipt 7", by_id), APPROVED)
    step = await desk.step()
    assert (step["arguments"], step["approval"]) == (
        {"what": paid},
        "edited" if paid == "heating" else "approved",
    )
    assert "receipt 7" in step["observation"]
    assert desk.effects == [paid]


@either_way
async def test_an_approved_call_that_had_ended_is_neither_asked_for_nor_made_again(
    settings: Settings, by_id: bool
) -> None:
    seen = Seen()
    witness = Witness(seen)
    graph = World(seen, settings).graph(witness)
    await graph.ainvoke(TASK, CONFIG, context=APPROVED, durability="sync")
    reply_ = await answer_to(graph, "approve", by_id)
    await graph.ainvoke(reply_, CONFIG, context=APPROVED, durability="sync")
    moment = _ended(witness)
    left = World(moment.seen, settings).graph(moment.saver)
    assert await asked(left) is None, "it is settled before the step is done"
    await left.ainvoke(None, CONFIG, context=APPROVED, durability="sync")
    assert await asked(left) is None
    state = (await left.aget_state(CONFIG)).values
    assert (state["status"], len(moment.seen.effects)) == ("answered", 1)


def _ended(witness: Witness) -> Moment:
    """Killed when the payment's outcome was kept, and its step was not."""
    return next(
        moment
        for moment in witness.moments
        if any(entry["key"].endswith("outcome") for entry in moment.journal)
    )


@either_way
async def test_made_again_and_broken_off_again_it_is_asked_for_again(settings: Settings, by_id: bool) -> None:
    desk = Desk(settings)
    await desk.broken_off(TASK, CONTEXT)
    await desk.go(None, CONTEXT)
    await desk.broken_off(await answer_to(desk.graph, "do it again", by_id), CONTEXT)
    await desk.go(None, CONTEXT)
    question = await asked(desk.graph)
    assert question
    assert "do it again (2)" in question["choices"]
    assert desk.effects == ["rent", "rent"]
    desk.hangs = False
    await desk.go(await answer_to(desk.graph, "do it again (2)", by_id), CONTEXT)
    assert (await desk.graph.aget_state(CONFIG)).values["status"] == "answered"
    assert len(set(desk.ids)) == 1, "one key for all attempts, or a service could not tell them for one"


@either_way
async def test_a_tool_that_asks_is_given_no_answer_to_another_question(
    settings: Settings, by_id: bool
) -> None:
    desk = Desk(settings, ask="Pay it?")
    await desk.go(TASK, CONTEXT)
    await desk.broken_off(await answer_to(desk.graph, "yes", by_id), CONTEXT)
    desk.effects.clear()  # the person looks: it had not happened
    await desk.go(None, CONTEXT)
    question = await asked(desk.graph)
    assert question
    await desk.go(await answer_to(desk.graph, question["choices"][1], by_id), CONTEXT)
    assert ((await asked(desk.graph)) or {}).get("question") == "Pay it?"
    await desk.go(await answer_to(desk.graph, "no", by_id), CONTEXT)
    assert desk.effects == []
    assert (await desk.step())["observation"] == "not paid: no"


async def test_what_a_person_said_of_a_broken_off_call_is_asked_once(settings: Settings) -> None:
    """Killed right after the word was kept, and gone on with."""
    desk = Desk(settings)
    await desk.broken_off(TASK, CONTEXT)
    witness = Witness(desk.seen, desk.graph.checkpointer)
    graph = desk.graph.copy(update={"checkpointer": witness})
    await graph.ainvoke(None, CONFIG, context=CONTEXT, durability="sync")
    reply_ = await answer_to(graph, "it happened", by_id=True)
    await graph.ainvoke(reply_, CONFIG, context=CONTEXT, durability="sync")
    left = graph.copy(update={"checkpointer": _ended(witness).saver})
    await left.ainvoke(None, CONFIG, context=CONTEXT, durability="sync")
    assert await asked(left) is None
    assert desk.effects == ["rent"]


async def test_where_the_tool_is_gone_a_call_that_was_broken_off_is_told(settings: Settings) -> None:
    def then(request: Any) -> Json:
        if "there is no tool" in request.messages[1].text:
            return call(tool="look_up", name="three")
        return reply(request)

    desk = Desk(settings, then=then)
    await desk.broken_off(TASK, CONTEXT)
    without: Any = build_agent(
        tools=[World(desk.seen, settings).tools()[1]],
        settings=settings,
        checkpointer=desk.graph.checkpointer,
        transport=Answers(then, name, desk.seen),
    )
    await without.ainvoke(None, CONFIG, context=CONTEXT)
    said = (await desk.step())["observation"]
    assert "an unfinished call may have taken effect" in said
    assert "there is no tool 'pay'" in said


FILE = {"name": "notes.txt", "data": base64.b64encode(b"some notes").decode()}
"""What is given is private, and may have been written by somebody else: what sends is asked for."""


@either_way
@approved_or_edited
async def test_a_call_that_may_be_made_twice_is_put_to_the_person_again_and_made_as_they_say(
    settings: Settings, by_id: bool, decision: Any, paid: str
) -> None:
    desk = Desk(settings, effect="egress", retryable=True)
    await desk.go({**TASK, "files": [FILE]}, CONTEXT)
    await desk.broken_off(await answer_to(desk.graph, decision, by_id), CONTEXT)
    question = await asked(desk.graph)
    assert question
    assert (question["kind"], "unknown" in question) == ("tool", False), "nobody is asked what came of it"
    desk.hangs = False
    await desk.go(await answer_to(desk.graph, decision, by_id), CONTEXT)
    assert desk.effects == [paid] * 2
    step = await desk.step()
    assert (step["ok"], step["arguments"]) == (True, {"what": paid})


@either_way
async def test_an_approval_holds_for_the_call_that_was_approved_alone(
    settings: Settings, by_id: bool
) -> None:
    desk = Desk(settings, effect="egress", retryable=True)
    await desk.go({**TASK, "files": [FILE]}, CONTEXT)
    await desk.broken_off(await answer_to(desk.graph, "approve", by_id), CONTEXT)
    proposals = (await desk.graph.aget_state(CONFIG)).values["proposals"]
    other = {"pay": {**proposals["pay"], "arguments": {"what": "everything"}}}
    await desk.graph.aupdate_state(CONFIG, {"proposals": other}, as_node="tool_agent")
    await desk.go(None, CONTEXT)
    question = await asked(desk.graph)
    assert question
    assert (question["kind"], desk.effects) == ("tool", ["rent"])
