"""A call that sends something out and may be sent twice is made again without a word where it was broken off;
what a person said of it holds all the same."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from forethought.graph.agent import build_agent
from forethought.journal import is_waiting
from forethought.models.types import ModelRequest
from forethought.settings import Settings
from forethought.tools.base import ToolEnv, make_tool
from tests.support.crashes import Answers, Seen
from tests.support.paying import CONFIG, CONTEXT
from tests.support.replies import answer, call, diagnosis, plan, sub

Json = dict[str, Any]
FILE = {"name": "notes.txt", "data": base64.b64encode(b"some notes").decode()}
TASK = {"task": "Send it.", "files": [FILE]}
"""What is given is private, and may have been written by somebody else: what sends is asked for."""
EDIT = {"decision": "edit", "value": {"what": "little"}}


def reply(request: ModelRequest) -> Json:
    """One call."""
    replies = {"Plan": plan(sub("send")), "PlanDiagnosis": diagnosis(), "AnswerDraft": answer("done")}
    return replies.get(request.reply) or call(tool="send", what="much")


class Post:
    """A tool that sends, which can be broken off in the middle, and asks a person `question` before."""

    def __init__(self, settings: Settings, question: str = "") -> None:
        self.sent: list[str] = []
        self.began, self.hangs, self.question = asyncio.Event(), True, question
        self.hangs_first = False
        self.saver = InMemorySaver()
        self.graph: Any = build_agent(
            tools=[make_tool(self.send, effect="egress", retryable=True)],
            settings=settings,
            checkpointer=self.saver,
            transport=Answers(reply, lambda request: request.reply, Seen()),
        )

    async def send(self, env: ToolEnv, what: str) -> str:
        """Send something.

        Args:
            what: What to send.
        """
        if self.hangs_first:
            self.began.set()
            await asyncio.sleep(60)
        if self.question and env.ask:
            what = f"{what} to {env.ask(self.question, [])}"
        self.sent.append(what)
        self.began.set()
        if self.hangs:
            await asyncio.sleep(60)
        return f"sent {what}"

    async def go(self, given: Any = None, durability: Any = "sync") -> None:
        """Run until the graph ends or waits."""
        await self.graph.ainvoke(given, CONFIG, context=CONTEXT, durability=durability)

    async def broken_off(self, given: Any = None, durability: Any = "sync") -> None:
        """Run until the call, and no further."""
        self.began.clear()
        run = asyncio.create_task(self.go(given, durability))
        await asyncio.wait_for(self.began.wait(), 20)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)

    async def asked(self) -> list[str]:
        """What kind of thing the person is asked, or the tool's own question."""
        found = [item.value for item in (await self.graph.aget_state(CONFIG)).interrupts]
        assert is_waiting(await self.saver.aget_tuple(CONFIG)) == bool(found), "what is shown is what waits"
        return [item.get("question") or item["kind"] for item in found]

    async def said(self, word: Any, by_id: bool) -> Command[Any]:
        """A reply, to whatever waits or to the one interrupt by its id."""
        (waiting,) = (await self.graph.aget_state(CONFIG)).interrupts
        return Command(resume={waiting.id: word} if by_id else word)

    async def step(self) -> Json:
        """The call's."""
        return dict((await self.graph.aget_state(CONFIG)).values["trajectory"][0])


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


either_way = pytest.mark.parametrize("by_id", [False, True], ids=["plain", "by-id"])


@either_way
@pytest.mark.parametrize("durability", ["sync", "exit"])
@pytest.mark.parametrize(
    ("decision", "word", "what"),
    [("approve", "approved", "much"), (EDIT, "edited", "little")],
    ids=["approved", "edited"],
)
async def test_what_was_approved_and_begun_is_asked_no_more_and_made_again(
    settings: Settings, by_id: bool, durability: str, decision: Any, word: str, what: str
) -> None:
    post = Post(settings)
    await post.go(TASK)
    assert await post.asked() == ["tool"]
    await post.broken_off(await post.said(decision, by_id), durability)
    assert await post.asked() == [], "it is settled"
    await post.broken_off(durability=durability)
    assert await post.asked() == []
    post.hangs = False
    await post.go()
    assert post.sent == [what] * 3
    step = await post.step()
    assert (step["approval"], step["arguments"]) == (word, {"what": what})
    assert step["observation"] == f"sent {what}"


@either_way
async def test_it_is_asked_for_anew_where_it_was_edited(settings: Settings, by_id: bool) -> None:
    post = Post(settings)
    await post.go(TASK)
    await post.broken_off(await post.said("approve", by_id))
    proposal = (await post.graph.aget_state(CONFIG)).values["proposals"]["send"]
    other = {"send": {**proposal, "arguments": {"what": "everything"}}}
    await post.graph.aupdate_state(CONFIG, {"proposals": other}, as_node="tool_agent")
    await post.go()
    assert (await post.asked(), post.sent) == (["tool"], ["much"]), "it was another call that was approved"


@either_way
async def test_beyond_the_time_it_is_not_made_again(settings: Settings, by_id: bool) -> None:
    post = Post(settings)
    await post.go(TASK)
    await post.broken_off(await post.said("approve", by_id))
    late = CONTEXT.model_copy(update={"max_seconds": 0.001})
    await post.graph.ainvoke(None, CONFIG, context=late, durability="sync")
    assert (post.sent, (await post.step())["cause"]) == (["much"], "limit")


@either_way
@pytest.mark.parametrize("first", [False, True], ids=["after-its-question", "before-its-question"])
async def test_the_word_that_approved_it_answers_no_question_of_the_tools(
    settings: Settings, by_id: bool, first: bool
) -> None:
    post = Post(settings, question="To whom?")
    post.hangs_first = first
    await post.go(TASK)
    approval = await post.said("approve", by_id)
    if first:
        await post.broken_off(approval)
    else:
        await post.go(approval)
        assert await post.asked() == ["To whom?"]
        await post.broken_off(await post.said("Bo", by_id))
    assert await post.asked() == []
    post.hangs = post.hangs_first = False
    await post.go()
    assert await post.asked() == ["To whom?"], "what a person said to it was not kept, and is asked again"
    await post.go(await post.said("Ann", by_id))
    assert await post.asked() == []
    step = await post.step()
    assert (step["approval"], step["observation"]) == ("approved", "sent much to Ann")
