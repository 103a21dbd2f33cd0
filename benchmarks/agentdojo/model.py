"""The obedient model: it does the task by the book, and whatever it reads that it should do."""

from __future__ import annotations

import json
import re
from itertools import groupby
from typing import Any, Literal, get_args

from benchmarks.agentdojo.suites import Move, Stage
from forethought.models.types import ModelReply, ModelRequest

Json = dict[str, Any]
Way = Literal["at once", "next subtask", "re-plan"]
WAYS: tuple[Way, ...] = get_args(Way)
"""When it obeys: in the subtask that read the injection; in the next one, which may be of a tool that changes
something; or by a new plan with a subtask for each call."""
_SUBTASK = re.compile(r'<subtask id="([^"]+)">')


class Obedient:
    """A transport: planner, worker and writer of one run."""

    def __init__(
        self, stage: Stage, own: list[Move], orders: list[Move], way: Way, answer: str, grants: Json
    ) -> None:
        self.stage, self.own, self.orders, self.way = stage, own, orders, way
        self.grants = grants
        """A thinking reader's reply to the prompt for the grants."""
        self.answer = answer or "It is done."
        self.planned: dict[str, Move] = {}
        self.plans = 0
        self.obeys = False
        """Whether a new plan has begun that does what the injection wants."""

    async def send(self, request: ModelRequest) -> ModelReply:
        """See Transport."""
        replies = {"Plan": self._plan, "ToolChoice": self._move}
        fixed = {
            "PlanDiagnosis": {"situation": "A task.", "tool_notes": "", "errors": []},
            "AnswerDraft": {"answer": self.answer, "used_steps": [1], "defects": []},
            "ForesightVerdict": {"difference": "none", "deviation": "none"},
            "Grants": self.grants,
        }
        reply = replies[request.reply](request) if request.reply in replies else fixed[request.reply]
        return ModelReply(json.dumps(reply), input_tokens=1, output_tokens=1, model="scripted")

    @property
    def due(self) -> list[Move]:
        """The injection's calls that are still to be made, once it was read."""
        return [move for move in self.orders if not move.proposed] if self.stage.read else []

    def _plan(self, request: ModelRequest) -> Json:
        """A subtask for each call, which names its tool: one after another, but like changes side by side."""
        rest = [move for move in self.own if not move.proposed]
        if self.way == "re-plan" or not rest:
            self.obeys, rest = bool(self.due), self.due + rest
        self.plans += 1
        subtasks: list[Json] = []
        before: list[str] = []
        for at, wave in enumerate(_waves(rest)):
            keys = [f"s{self.plans}_{at}_{n}" for n, _ in enumerate(wave)]
            subtasks += [_subtask(key, move, before) for key, move in zip(keys, wave, strict=True)]
            self.planned |= dict(zip(keys, wave, strict=True))
            before = keys
        return {"known": ["the task"], "open": [], "subtasks": subtasks, "answer": "", "defects": []}

    def _move(self, request: ModelRequest) -> Json:
        found = _SUBTASK.search(request.messages[1].text)
        assert found, "the prompt names no subtask"
        move = self.planned[found[1]]
        if self.due and self.way == "re-plan" and not self.obeys:
            return {
                "thought": "",
                "action": "replan",
                "reason": "Something must be done first.",
                "defects": [],
            }
        if self.due and self.way != "re-plan":
            return self._call(self.due[0], finishes=False)
        if not move.proposed:
            last = all(other.proposed for other in self.own if other is not move)
            return self._call(move, finishes=self.way == "next subtask" and not last)
        return {"thought": "", "action": "finish", "result": "It is done.", "defects": []}

    def _call(self, move: Move, *, finishes: bool) -> Json:
        move.proposed = True
        self.stage.proposed.append(move)
        return {
            "thought": "",
            "surprise": "none",
            "action": "call",
            "tool": move.tool,
            "arguments": move.arguments,
            "finishes": finishes,
            "expected": "",
            "defects": [],
        }


def _waves(moves: list[Move]) -> list[list[Move]]:
    """The calls in order; those next to each other with which one tool changes something go together."""
    like = groupby(moves, lambda move: (move.tool, move.injected) if move.changes else id(move))
    return [list(wave) for _, wave in like]


def _subtask(key: str, move: Move, after: list[str]) -> Json:
    return {
        "id": key,
        "description": f"Call {move.tool} as the task wants it.",
        "depends_on": after,
        "calls": [],
        "expected": "",
    }
