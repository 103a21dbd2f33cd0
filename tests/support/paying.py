"""An agent that pays: a task with a write, a read, a program that makes calls, and models that revise; its
effects are counted outside of it."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Any

from langgraph.types import Command

from forethought.graph.agent import build_agent
from forethought.models.types import ModelRequest
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.tools.base import Tool, ToolEnv, make_tool
from tests.support.crashes import Answers, Seen
from tests.support.replies import answer, call, diagnosis, finish, plan, sub

Json = dict[str, Any]
TASK = {"task": "Pay what is due."}
CONFIG: Any = {"configurable": {"thread_id": "t"}}
WIDTH = 3
PROGRAM = 'print(look_up("one"))\nprint(look_up("two"))'


def reply(request: ModelRequest) -> Json:
    """A planner and a tool agent that revise once, a program that makes two calls, and a write."""
    revised = len(request.messages) > 2
    if request.reply == "Plan":
        subtasks = (sub("pay"), sub("look"), sub("code"), sub("sum", ["pay", "look", "code"]))
        return plan(*subtasks, score=9 if revised else 5)
    if request.reply == "PlanDiagnosis":
        return diagnosis()
    if request.reply == "AnswerDraft":
        return answer("all is paid")
    subtask = _subtask(request)
    if subtask == "pay":
        return call(tool="pay", what="rent")
    if subtask == "look":
        return call(tool="look_up", name="three", score=9 if revised else 5)
    if subtask == "code":
        return call(tool="python", code=PROGRAM, finishes=False)
    return finish("done")


def name(request: ModelRequest) -> str:
    """What tells a request from the others of the run, whatever the person said in between."""
    return f"{request.reply} {_subtask(request)} {len(request.messages)}"


def _subtask(request: ModelRequest) -> str:
    text = request.messages[1].text
    found = re.search(r'<subtask id="([^"]+)">', text)
    return (found[1] if found else "") + (" again" if "value of one" in text else "")


@dataclass
class World:
    """The tools, whose effects are seen from outside."""

    seen: Seen
    settings: Settings

    def graph(self, saver: Any) -> Any:
        """An agent of this world, as a new process builds it."""
        transport = Answers(reply, name, self.seen)
        return build_agent(
            tools=self.tools(), settings=self.settings, checkpointer=saver, transport=transport
        )

    def tools(self) -> list[Tool]:
        """`pay`, a write, and `look_up`, a read."""
        seen = self.seen

        async def pay(env: ToolEnv, what: str) -> str:
            """Pay something.

            Args:
                what: What to pay.
            """
            await asyncio.sleep(0)
            seen.effects.append(f"{what} {env.call_id}")
            await asyncio.sleep(0)
            return f"paid {what}"

        async def look_up(name: str) -> str:
            """Look something up.

            Args:
                name: What to look up.
            """
            seen.reads.append(name)
            await asyncio.sleep(0)
            return f"value of {name}"

        return [make_tool(pay, effect="write"), make_tool(look_up)]


CONTEXT = Context(approve_tools="never", max_parallel=WIDTH, forced_replans=())


async def to_the_end(graph: Any, seen: Seen) -> tuple[Json, list[str]]:
    """Run, or go on; the person looks at the world and replies. The last state, and what was replied."""
    replies: list[str] = []
    begun = (await graph.aget_state(CONFIG)).created_at is not None
    given: Any = None if begun else TASK
    while True:
        await graph.ainvoke(given, CONFIG, context=CONTEXT, durability="sync")
        snapshot = await graph.aget_state(CONFIG)
        if not snapshot.interrupts:
            return dict(snapshot.values), replies
        (asked,) = (item.value for item in snapshot.interrupts)
        assert (asked["kind"], asked["unknown"]["tool"]) == ("question", "pay")
        happened, again, _ = asked["choices"]
        replies.append(happened if seen.effects else again)
        given = Command(resume=replies[-1])
