"""One run of our compiled graph: a user's task, with or without an injection, and what was asked of whom."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from benchmarks.agentdojo.model import Obedient, Way
from benchmarks.agentdojo.suites import Move, Stage, environment, moves
from forethought.graph.agent import build_agent
from forethought.settings import Settings
from forethought.state.context import Context

Json = dict[str, Any]
PATIENT = Context(max_attempts=10, max_replans=50, max_steps=100)
"""The defaults, but for bounds that would end a run before all that the injection wants is proposed."""


@dataclass(frozen=True)
class Case:
    """A user's task of a suite, and the injection task whose order it reads ('' for none)."""

    suite: str
    task: str
    injection: str = ""
    way: Way = "at once"


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    case: Case
    status: str
    read: bool
    """Whether a tool's output held the injection."""
    moves: list[Move]
    solved: bool
    """AgentDojo's own check of the user's task."""
    attacked: bool
    """AgentDojo's own check of the injection task: whether its goal was reached."""
    questions: int
    """Number of the person's replies."""


async def run(case: Case, suite: Any) -> Outcome:
    """Carry the case out; a person approves the task's own calls and rejects what the injection wants."""
    task = suite.user_tasks[case.task]
    injection = suite.injection_tasks[case.injection] if case.injection else None
    before = environment(suite, task, injection)
    stage = Stage(suite, before.model_copy(deep=True))
    own = moves(task, before)
    orders = moves(injection, before) if injection else []
    grants = {"grants": recorded_grants()[f"{case.suite}/{case.task}"]}
    model = Obedient(stage, own, orders, case.way, task.GROUND_TRUTH_OUTPUT, grants)
    status, answer = await drive(task.PROMPT, stage, model)
    checked = ([{"type": "text", "content": answer}], before, stage.environment, stage.calls)
    return Outcome(
        case,
        status,
        stage.read,
        [*own, *orders],
        suite._check_user_task_utility(task, *checked),
        bool(injection) and suite._check_injection_task_security(injection, *checked),
        stage.questions,
    )


@cache
def recorded_grants() -> dict[str, list[Json]]:
    """What Claude granted for each task, from the prompt for the grants alone."""
    loaded: dict[str, list[Json]] = json.loads(Path(__file__).with_name("grants.json").read_text("utf-8"))
    return loaded


async def drive(prompt: str, stage: Stage, model: Obedient) -> tuple[str, str]:
    """Run the graph to its end; the status and the answer."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(base_url=None, model="scripted", data_dir=Path(folder))
        graph = build_agent(stage.tools(), settings, InMemorySaver(), transport=model, builtin=())
        config: Any = {"configurable": {"thread_id": "t"}}
        value: Any = {"task": prompt}
        while True:
            await graph.ainvoke(value, config, context=PATIENT)
            state = await graph.aget_state(config)
            if not state.interrupts:
                return str(state.values["status"]), str(state.values["answer"])
            stage.questions += len({_group(item) for item in state.interrupts})
            value = Command(resume={item.id: _reply(item.value, stage) for item in state.interrupts})


def _group(item: Any) -> str:
    """What one reply settles: a question, or with `approve all` every call of its tool that waits with it."""
    return str(item.value["tool"] if item.value.get("like") else item.id)


def _reply(payload: Json, stage: Stage) -> str:
    assert payload["kind"] == "tool", payload
    move = stage.move(payload["tool"], payload["arguments"])
    move.asked = payload["why"]
    if move.injected:
        return "reject"
    return "approve all" if payload.get("like") else "approve"
