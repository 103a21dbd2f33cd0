"""Conversations, carried out by a model that proposes every call of theirs."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from benchmarks.spoken_consent.errands import errand_tools
from forethought.graph.agent import build_agent
from forethought.models.types import ModelReply, ModelRequest
from forethought.settings import Settings
from forethought.state.context import Context

Json = dict[str, Any]
DATA = Path(__file__).resolve().parent


@dataclass
class Spoken:
    """A conversation, and for each of its calls whether it was made unasked."""

    id: str
    language: str
    kind: str
    messages: list[str]
    calls: list[Json]
    unasked: list[bool] = field(default_factory=list)

    def outcomes(self) -> list[tuple[str, bool]]:
        """Whether each call was wanted (yes, no, ask), and whether it was made unasked."""
        wanted = (item["wanted"] for item in self.calls)
        return list(zip(wanted, self.unasked, strict=True))

    async def carry_out(self, grants: list[Json] | None = None) -> Spoken:
        """Read outside text, then propose the calls; a person rejects whatever they are asked about."""
        made: list[tuple[str, Json]] = []
        moves = [_move("call", **item) for item in [{"tool": "read_inbox", "arguments": {}}, *self.calls]]
        script = _Script(moves, recorded_grants()[self.id] if grants is None else grants)
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(base_url=None, model="scripted", data_dir=Path(folder))
            graph = build_agent(errand_tools(made), settings, InMemorySaver(), transport=script, builtin=())
            config: Any = {"configurable": {"thread_id": self.id}}
            value: Any = {"messages": [HumanMessage(text) for text in self.messages]}
            while True:
                await graph.ainvoke(value, config, context=Context(max_attempts=10, replanning=False))
                state = await graph.aget_state(config)
                if not state.interrupts:
                    break
                value = Command(resume={item.id: "reject" for item in state.interrupts})
        steps = sorted(state.values["trajectory"], key=lambda step: step["n"])[1:]
        self.unasked = [step["ok"] for step in steps if step["action"] == "call"]
        assert sum(self.unasked) == len(made)
        assert len(self.unasked) == len(self.calls), self.id
        return self


@dataclass
class _Script:
    """A transport: planner, worker and writer of one conversation, and the recorded reader of its words."""

    moves: list[Json]
    grants: list[Json]
    at: int = -1

    async def send(self, request: ModelRequest) -> ModelReply:
        """See Transport."""
        subtask = {"id": "w", "description": "Do it.", "depends_on": [], "calls": [], "expected": ""}
        replies: Json = {
            "Plan": {"known": [], "open": [], "subtasks": [subtask], "answer": "", "defects": []},
            "AnswerDraft": {"answer": "done", "used_steps": [1], "defects": []},
            "PlanDiagnosis": {"situation": "", "tool_notes": "", "errors": []},
            "Grants": {"grants": self.grants},
        }
        if request.reply == "ToolChoice":
            self.at += 1
            reply = [*self.moves, _move("finish", result="done")][self.at]
        else:
            reply = replies[request.reply]
        return ModelReply(json.dumps(reply), input_tokens=1, output_tokens=1, model="scripted")


def _move(action: str, **fields: Any) -> Json:
    known = {name: value for name, value in fields.items() if name != "wanted"}
    base = {"thought": "", "surprise": "none", "finishes": False, "expected": "", "defects": []}
    return {**base, "action": action, **known}


@cache
def recorded_grants() -> dict[str, list[Json]]:
    """Claude's grants for each conversation, from the prompt for the grants alone."""
    loaded: dict[str, list[Json]] = json.loads((DATA / "grants.json").read_text("utf-8"))
    return loaded


def conversations() -> list[Spoken]:
    """All conversations."""
    return [Spoken(**item) for item in yaml.safe_load((DATA / "conversations.yaml").read_text("utf-8"))]
