"""A model and tools that do anything at all: drawn scores, plans, failures, requests and kills."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from forethought.models.types import ModelReply, ModelRequest
from tests.support.replies import answer, ask_replan, call, diagnosis, finish, plan, revision, sub
from tools.base import Tool, ToolError, make_tool

Json = dict[str, Any]
Pick = Callable[[Sequence[Any]], Any]
_SUBTASK = re.compile(r'<subtask id="([^"]+)">')
INPUT, OUTPUT, USD = 10, 5, 0.01
"""Tokens and dollars of every call."""


class Killed(Exception):
    """The process is gone."""


@dataclass
class Wild:
    """Draws everything with `pick`, which is given the choices."""

    pick: Pick
    kill_in: int | None = None
    """Model calls until the process is gone; None: it stays."""
    answered: int = 0
    """Calls that were answered in the present task."""
    effects: list[str] = field(default_factory=list)
    planned: int = 0

    async def send(self, request: ModelRequest) -> ModelReply:
        """See `Transport`."""
        if self.kill_in is not None:
            self.kill_in -= 1
            if self.kill_in < 0:
                raise Killed
        self.answered += 1
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
            return answer("an answer", score=self._score())
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
        kind = self.pick(["call", "call", "call", "open", "finish", "replan", "low", "note", "ask"])
        name = f"{key} {self.pick(range(6))}"
        moves: dict[str, Json] = {
            "call": call(name),
            "open": call(name, finishes=False),
            "finish": finish("done"),
            "replan": ask_replan(),
            "low": call(name, score=self._score()),
            "note": call(tool="note", text=name),
            "ask": call(tool="ask_user", question="Which one?", choices=None),
        }
        return moves[kind]

    def tools(self) -> list[Tool]:
        """A read that fails at times, and a write."""

        async def lookup(key: str, note: str | None = None) -> str:
            """Look something up.

            Args:
                key: What to look up.
                note: A remark, or null.
            """
            if self.pick([False, False, True]):
                raise ToolError("it is broken")
            return f"value of {key}"

        async def note(text: str) -> str:
            """Note something.

            Args:
                text: What to note.
            """
            self.effects.append(text)
            return "noted"

        return [make_tool(lookup), make_tool(note, effect="write")]
