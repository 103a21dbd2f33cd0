"""What a call had asked of models before it was broken off is booked once, whatever comes of the call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from forethought.graph.agent import build_agent
from forethought.models.types import ModelRequest
from forethought.settings import Settings
from forethought.tools.base import ToolEnv, make_tool
from tests.support.crashes import Answers, Seen, Witness
from tests.support.paying import CONFIG, CONTEXT, TASK
from tests.support.replies import answer, call, diagnosis, finish, plan, sub

Json = dict[str, Any]


def reply(request: ModelRequest) -> Json:
    """One payment."""
    replies = {
        "Plan": plan(sub("pay")),
        "PlanDiagnosis": diagnosis(),
        "AnswerDraft": answer("done"),
        "DocumentAnswer": {"brief": "it is due"},
    }
    return replies.get(request.reply) or call(tool="pay", what="rent")


class Desk:
    """A tool that asks a model about `papers`, a question each, pays, and is broken off the first time."""

    def __init__(self, settings: Settings, *papers: str, effect: Any = "write") -> None:
        self.papers, self.hangs, self.began = papers, True, asyncio.Event()
        self.seen = Seen()
        transport = Answers(reply, lambda request: request.reply, self.seen)
        self.saver = InMemorySaver()
        self.graph: Any = build_agent(
            tools=[make_tool(self.pay, effect=effect)],
            settings=settings,
            checkpointer=self.saver,
            transport=transport,
        )

    async def pay(self, env: ToolEnv, what: str) -> str:
        """Pay something.

        Args:
            what: What to pay.
        """
        assert env.inspect is not None
        for paper in self.papers:
            await env.inspect("Is it due?", f"text of {paper}", paper)
        self.seen.effects.append(what)
        self.began.set()
        if self.hangs:
            await asyncio.sleep(60)
        return f"paid {what}"

    async def broken_off(self) -> None:
        """Run until the payment, and no further."""
        run = asyncio.create_task(self.graph.ainvoke(TASK, CONFIG, context=CONTEXT, durability="sync"))
        await asyncio.wait_for(self.began.wait(), 20)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        self.hangs = False

    async def go(self, given: Any = None) -> None:
        """Go on."""
        await self.graph.ainvoke(given, CONFIG, context=CONTEXT, durability="sync")


async def booked(graph: Any, seen: Seen) -> int:
    """How many questions of the tool's are booked, of the thread and of its step alike; each costs the same,
    and the thread has booked all that was ever answered."""
    state = (await graph.aget_state(CONFIG)).values
    assert state["status"] == "answered"
    used = state["usage"]["inspector"]
    calls = int(used["calls"])
    assert (used["input_tokens"], used["output_tokens"]) == (10 * calls, 5 * calls)
    assert used["usd"] == pytest.approx(0.01 * calls)
    own = state["usage"]["tool"]["calls"]
    assert sum(step["usage"]["calls"] for step in state["trajectory"]) == own + calls
    assert sum(usage["calls"] for usage in state["usage"].values()) == len(seen.asked)
    return calls


@pytest.mark.parametrize(
    ("said", "then", "asked"),
    [
        ("it happened", (), 2),
        ("it happened: receipt 7", (), 2),
        ("do it again", ("bill", "lease"), 2),
        ("do it again", ("bill", "letter"), 3),
        ("do it again", (), 2),
    ],
    ids=["happened", "happened-with-more", "asks-the-same", "asks-something-else", "asks-nothing"],
)
async def test_whatever_the_person_says_of_the_call(
    settings: Callable[..., Settings], said: str, then: tuple[str, ...], asked: int
) -> None:
    desk = Desk(settings(), "bill", "lease")
    await desk.broken_off()
    desk.papers = then
    await desk.go()
    await desk.go(Command(resume=said))
    assert await booked(desk.graph, desk.seen) == asked


async def test_a_read_that_asks_something_else_when_it_is_made_again(
    settings: Callable[..., Settings],
) -> None:
    desk = Desk(settings(), "bill", effect="read")
    await desk.broken_off()
    desk.papers = ("lease",)
    await desk.go()
    assert await booked(desk.graph, desk.seen) == 2


@pytest.mark.parametrize("said", ["it happened", "do it again"])
async def test_once_wherever_the_run_is_killed_after_the_persons_word(
    settings: Callable[..., Settings], said: str
) -> None:
    desk = Desk(settings(), "bill", "lease")
    await desk.broken_off()
    desk.papers = ("bill", "letter")
    witness = Witness(desk.seen, desk.saver)
    await desk.graph.copy(update={"checkpointer": witness}).ainvoke(None, CONFIG, context=CONTEXT)
    witness.moments.clear()
    whole = desk.graph.copy(update={"checkpointer": witness})
    await whole.ainvoke(Command(resume=said), CONFIG, context=CONTEXT, durability="sync")
    wanted = await booked(whole, desk.seen)
    known = [
        moment
        for moment in witness.moments
        if any(entry["key"].endswith("outcome") for entry in moment.journal)
        and "AnswerDraft" not in moment.seen.asked
    ]
    assert known
    for moment in known:
        desk.seen.asked[:] = moment.seen.asked
        left = desk.graph.copy(update={"checkpointer": moment.saver})
        await left.ainvoke(None, CONFIG, context=CONTEXT, durability="sync")
        assert await booked(left, desk.seen) == wanted


async def test_beside_an_edit_and_of_an_edited_call(settings: Callable[..., Settings]) -> None:
    for what, said in (("rent", "it happened"), ("heating", None)):
        desk = Desk(settings(), "bill", "lease")
        await desk.broken_off()
        proposal = (await desk.graph.aget_state(CONFIG)).values["proposals"]["pay"]
        edited = {"proposals": {"pay": {**proposal, "arguments": {"what": what}}}}
        await desk.graph.aupdate_state(CONFIG, edited, as_node="tool_agent")
        desk.papers = ("letter",)
        await desk.go()
        if said:
            await desk.go(Command(resume=said))
        assert await booked(desk.graph, desk.seen) == (2 if said else 3)


PROGRAM = 'print(study("bill"))\nprint(study("lease"))'


class Study:
    """A program that has documents read one by one, and is broken off at the second."""

    def __init__(self, settings: Settings) -> None:
        self.hangs, self.began, self.seen = True, asyncio.Event(), Seen()
        self.graph: Any = build_agent(
            tools=[make_tool(self.study)],
            settings=settings,
            checkpointer=InMemorySaver(),
            transport=Answers(self.reply, lambda request: request.reply, self.seen),
        )

    def reply(self, request: ModelRequest) -> Json:
        """One program."""
        if request.reply != "ToolChoice":
            return reply(request)
        return finish("no") if "no tool" in request.messages[1].text else call(tool="python", code=PROGRAM)

    async def study(self, env: ToolEnv, paper: str) -> str:
        """Read a paper.

        Args:
            paper: Its name.
        """
        assert env.inspect is not None
        await env.inspect("Is it due?", f"text of {paper}", paper)
        if self.hangs and paper in ("lease", "letter"):
            self.began.set()
            await asyncio.sleep(60)
        return f"read {paper}"

    async def broken_off(self, given: Any = None) -> None:
        """Run until the second paper was read, and no further."""
        self.began.clear()
        run = asyncio.create_task(self.graph.ainvoke(given, CONFIG, context=CONTEXT, durability="sync"))
        await asyncio.wait_for(self.began.wait(), 20)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)

    async def edit(self, tool: str, **arguments: str) -> None:
        """The person puts another call in the program's place."""
        proposal = (await self.graph.aget_state(CONFIG)).values["proposals"]["pay"]
        edited = {"proposals": {"pay": {**proposal, "tool": tool, "arguments": arguments}}}
        await self.graph.aupdate_state(CONFIG, edited, as_node="tool_agent")


@pytest.mark.parametrize(
    ("tool", "arguments", "asked"),
    [
        ("study", {"paper": "will"}, 3),
        ("python", {"code": 'print("nothing")'}, 2),
        ("python", {"code": f"{PROGRAM}\nprint('again')"}, 4),
        ("nothing", {}, 2),
    ],
    ids=["a-call", "a-program", "a-program-that-asks-alike", "no-tool"],
)
async def test_of_a_program_that_was_edited(
    settings: Callable[..., Settings], tool: str, arguments: dict[str, str], asked: int
) -> None:
    study = Study(settings())
    await study.broken_off(TASK)
    await study.edit(tool, **arguments)
    study.hangs = False
    await study.graph.ainvoke(None, CONFIG, context=CONTEXT)
    assert await booked(study.graph, study.seen) == asked


async def test_of_a_program_that_was_edited_and_broken_off_again(settings: Callable[..., Settings]) -> None:
    study = Study(settings())
    await study.broken_off(TASK)
    await study.edit("python", code='print(study("bill"))\nprint(study("letter"))')
    await study.broken_off()
    study.hangs = False
    await study.graph.ainvoke(None, CONFIG, context=CONTEXT)
    assert await booked(study.graph, study.seen) == 4
