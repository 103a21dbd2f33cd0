"""A model and tools that do anything at all: drawn scores, plans, failures and requests, until a kill."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from forethought.models.types import ModelReply, ModelRequest
from forethought.tools.base import Tool, ToolError, make_tool
from tests.support.crashes import Seen, Witness
from tests.support.replies import answer, ask_replan, call, diagnosis, finish, plan, revision, sub

Json = dict[str, Any]
Pick = Callable[[Sequence[Any]], Any]
_SUBTASK = re.compile(r'<subtask id="([^"]+)">')
INPUT, OUTPUT, USD, SECONDS = 400, 100, 0.01, 1.0
"""Tokens, dollars and seconds of every call."""
AT_EFFECT = -1
"""In place of a number of moments: right after the next effect."""
_TURNS = 30
"""Turns of the event loop in which all that is to happen at a time has happened."""


class Clock:
    """Time that passes only while something sleeps; what sleeps side by side sleeps at the same time."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[float] = []

    def monotonic(self) -> float:
        """As time.monotonic."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Return when that much time has passed."""
        due = self.now + seconds
        self._due.append(due)
        try:
            while True:
                for _ in range(_TURNS):
                    await asyncio.sleep(0)
                if due <= min(self._due):
                    break
        finally:
            self._due.remove(due)
        self.now = max(self.now, due)


class Process:
    """A process that is killed at a moment: what it had kept by then is all that it leaves."""

    def __init__(self, moments: int | None, left: InMemorySaver | None) -> None:
        self.saver = Mortal(self, left)
        self.killed = asyncio.Event()
        self.left: InMemorySaver | None = None
        self._moments = moments

    def pass_moment(self, *, effect: bool = False) -> None:
        """A moment at which it may be killed; `effect`: something was changed just now."""
        if self._moments is None or self.left is not None:
            return
        due = effect if self._moments == AT_EFFECT else self._moments == 0
        if self._moments > 0:
            self._moments -= 1
        if due:
            self.left = self.saver.left()
            self.killed.set()

    async def live(self, *, effect: bool = False) -> None:
        """As `pass_moment`, where a process that is gone does not come back from."""
        self.pass_moment(effect=effect)
        if self.left is not None:
            await asyncio.Event().wait()


class Mortal(Witness):
    """A checkpointer whose writes are moments, before and after they are durable."""

    def __init__(self, process: Process, left: InMemorySaver | None) -> None:
        super().__init__(Seen(), left)
        self.process = process

    async def aput(self, config: RunnableConfig, *rest: Any) -> RunnableConfig:
        """See InMemorySaver."""
        self.process.pass_moment()
        put = await InMemorySaver.aput(self, config, *rest)
        self.process.pass_moment()
        return put

    async def aput_writes(self, *given: Any) -> None:
        """See InMemorySaver."""
        self.process.pass_moment()
        await InMemorySaver.aput_writes(self, *given)
        self.process.pass_moment()


@dataclass
class Wild:
    """Draws everything with `pick`, which is given the choices."""

    pick: Pick
    clock: Clock
    spent: Callable[[int], str]
    """Which of the task's budgets is spent by what was paid for so far; '': none. Of a repair, the number
    says which one it is."""
    process: Process | None = None
    answered: int = 0
    """Calls that were answered in the present task, and whose answers no kill has lost."""
    late: list[str] = field(default_factory=list)
    """Questions of the present task that were begun when a budget was spent."""
    effects: list[str] = field(default_factory=list)
    planned: int = 0
    noted: int = 0

    async def send(self, request: ModelRequest) -> ModelReply:
        """See `Transport`."""
        assert self.process is not None
        await self.process.live()
        repairs = sum(message.text.startswith("That reply cannot be used") for message in request.messages)
        if (request.reply == "AnswerDraft" or not repairs) and (why := self.spent(repairs)):
            self.late.append(f"{'repair of ' if repairs else ''}{request.reply}, {why} spent")
        await self.clock.sleep(SECONDS)
        self.answered += 1
        await self.process.live()
        invalid = self.pick([False] * 9 + [True])
        text = "no object" if invalid else json.dumps(self._reply(request))
        return ModelReply(text, input_tokens=INPUT, output_tokens=OUTPUT, usd=USD)

    def _reply(self, request: ModelRequest) -> Json:
        if request.reply == "Plan":
            return plan(*self._subtasks(), score=self._score())
        if request.reply == "PlanDiagnosis":
            return diagnosis(*self.pick([[], [], ["ineffective_tool_selection"]]))
        if request.reply == "PlanRevision":
            return revision(*self._subtasks())
        if request.reply == "AnswerDraft":
            mend = self.pick(["facts", "facts", "now", "never"])
            return answer("an answer", score=self._score(), mend=mend)
        found = _SUBTASK.search(request.messages[1].text)
        assert found, request.reply
        return self._move(found.group(1))

    def _score(self) -> int:
        return int(self.pick([9, 9, 3, 6]))

    def _subtasks(self) -> list[Json]:
        """Up to four, of old names and new ones, with dependencies among them."""
        self.planned += 1
        keys = [f"s{at}" for at in range(self.pick([1, 2, 3, 4]))]
        if self.pick([False, True]):
            keys = [f"{key}-{self.planned}" for key in keys]
        made = []
        for at, key in enumerate(keys):
            after = [other for other in keys[:at] if self.pick([True, False, False])]
            made.append(sub(key, after, description=f"do {key}, plan {self.planned}"))
        return made

    def _move(self, key: str) -> Json:
        kind = self.pick(["call", "call", "note", "open", "finish", "replan", "low", "note", "ask"])
        name = f"{key} {self.pick(range(6))}"
        moves: dict[str, Json] = {
            "call": call(name),
            "open": call(name, finishes=False),
            "finish": finish("done"),
            "replan": ask_replan(),
            "low": call(name, score=self._score()),
            "note": call(tool="note", text=self._new_text(key)),
            "ask": call(tool="ask_user", question="Which one?", choices=None),
        }
        return moves[kind]

    def _new_text(self, key: str) -> str:
        self.noted += 1
        return f"{key}, note {self.noted}"

    def tools(self) -> list[Tool]:
        """A read that fails at times, and a write."""

        async def lookup(key: str, note: str | None = None) -> str:
            """Look something up.

            Args:
                key: What to look up.
                note: A remark, or null.
            """
            await self._alive()
            if self.pick([False, False, True]):
                raise ToolError("it is broken")
            return f"value of {key}"

        async def note(text: str) -> str:
            """Note something.

            Args:
                text: What to note.
            """
            await self._alive()
            self.effects.append(text)
            await self._alive(effect=True)
            return "noted"

        return [make_tool(lookup), make_tool(note, effect="write")]

    async def _alive(self, *, effect: bool = False) -> None:
        assert self.process is not None
        await self.process.live(effect=effect)
