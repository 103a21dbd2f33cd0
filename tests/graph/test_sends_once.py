"""A call that sends something out and may be sent twice is made again where it was broken off: nobody is
asked what came of it, only, where it needs it, whether it may be made."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from forethought.graph.agent import build_agent
from forethought.models.types import ModelRequest
from forethought.settings import Settings
from forethought.tools.base import make_tool
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
    """A tool that sends, which can be broken off in the middle."""

    def __init__(self, settings: Settings) -> None:
        self.sent: list[str] = []
        self.began, self.hangs = asyncio.Event(), True
        self.graph: Any = build_agent(
            tools=[make_tool(self.send, effect="egress", retryable=True)],
            settings=settings,
            checkpointer=InMemorySaver(),
            transport=Answers(reply, lambda request: request.reply, Seen()),
        )

    async def send(self, what: str) -> str:
        """Send something.

        Args:
            what: What to send.
        """
        self.sent.append(what)
        self.began.set()
        if self.hangs:
            await asyncio.sleep(60)
        return f"sent {what}"

    async def go(self, given: Any = None) -> None:
        """Run until the graph ends or waits."""
        await self.graph.ainvoke(given, CONFIG, context=CONTEXT, durability="sync")

    async def broken_off(self, given: Any = None) -> None:
        """Run until the call, and no further."""
        self.began.clear()
        run = asyncio.create_task(self.go(given))
        await asyncio.wait_for(self.began.wait(), 20)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)

    async def asked(self) -> list[str]:
        """What kind of thing the person is asked."""
        return [item.value["kind"] for item in (await self.graph.aget_state(CONFIG)).interrupts]

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
@pytest.mark.parametrize(
    ("decision", "word", "what"),
    [("approve", "approved", "much"), (EDIT, "edited", "little")],
    ids=["approved", "edited"],
)
async def test_what_was_approved_and_broken_off_is_put_to_the_person_again_and_made_as_they_say(
    settings: Settings, by_id: bool, decision: Any, word: str, what: str
) -> None:
    post = Post(settings)
    await post.go(TASK)
    assert await post.asked() == ["tool"]
    await post.broken_off(await post.said(decision, by_id))
    assert await post.asked() == ["tool"]
    post.hangs = False
    await post.go(await post.said(decision, by_id))
    assert await post.asked() == []
    assert post.sent == [what] * 2
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
