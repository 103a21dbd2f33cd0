"""A task of a wave that fails cancels none of the others, and is the only one that runs again."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from forethought.graph import node_wrapper
from forethought.graph.agent import build_agent
from forethought.models.types import ModelReply, ModelRequest, TransportError
from forethought.settings import Settings
from forethought.state.context import Context
from tests.support.agent import World
from tests.support.paying import name
from tests.support.replies import answer, call, diagnosis, plan, sub

CONFIG: Any = {"configurable": {"thread_id": "t"}}
KEYS = ("a", "b", "c", "d")


@dataclass
class Model:
    """Answers by role. `turns` says after how many turns of the event loop a subtask's move is answered;
    `failing` names the subtasks whose model is out."""

    failing: set[str]
    turns: dict[str, int] = field(default_factory=dict)
    low: set[str] = field(default_factory=set)
    """Subtasks whose first proposal scores too low."""
    asked: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)

    async def send(self, request: ModelRequest) -> ModelReply:
        asked = name(request)
        self.asked.append(asked)
        key = asked.split()[1] if request.reply == "ToolChoice" else ""
        for _ in range(self.turns.get(key, 0)):
            await asyncio.sleep(0)
        if key in self.failing and (key not in self.low or len(request.messages) > 2):
            raise TransportError(f"no reply for {key}")
        self.answered.append(asked)
        return ModelReply(json.dumps(self._reply(request, key)), input_tokens=10, output_tokens=5, usd=0.01)

    def _reply(self, request: ModelRequest, key: str) -> Any:
        if request.reply == "ToolChoice":
            first = key in self.low and len(request.messages) == 2
            return call(key, score=3 if first else 9)
        replies = {"Plan": plan(*map(sub, KEYS)), "PlanDiagnosis": diagnosis(), "AnswerDraft": answer()}
        return replies[request.reply]


@dataclass
class Run:
    model: Model
    world: World
    graph: Any

    async def go(self, given: Any, **config: Any) -> Any:
        context = Context(max_parallel=len(KEYS))
        return await self.graph.ainvoke(given, {**CONFIG, **config}, context=context)

    async def written(self) -> set[str]:
        """The siblings whose updates are kept with the checkpoint."""
        snapshot = await self.graph.aget_state(CONFIG)
        found = [task.result or {} for task in snapshot.tasks]
        return {key for result in found for key in result.get("proposals", {})}


@pytest.fixture
def run(settings: Callable[..., Settings]) -> Callable[..., Run]:
    def make(failing: set[str], **options: Any) -> Run:
        model, world = Model(set(failing), **options), World()
        graph = build_agent(
            tools=[world.tool()], settings=settings(), checkpointer=InMemorySaver(), transport=model
        )
        return Run(model, world, graph)

    return make


@pytest.mark.parametrize("turns", [0, 1, 40], ids=["at-once", "soon", "late"])
@pytest.mark.parametrize("failing", [{"a"}, {"d"}, {"a", "c"}], ids=["first", "last", "two"])
async def test_nothing_in_flight_is_thrown_away_and_only_the_failed_one_is_asked_again(
    run: Callable[..., Run], failing: set[str], turns: int
) -> None:
    others = {key: turns + at for at, key in enumerate(sorted(set(KEYS) - failing))}
    made = run(failing, turns=others)
    with pytest.raises(TransportError, match="no reply for"):
        await made.go({"task": "the task"})
    assert await made.written() == set(KEYS) - failing
    assert not node_wrapper._waves

    made.model.failing.clear()
    state = await made.go(None)
    assert state["status"] == "answered"
    assert max(Counter(made.model.answered).values()) == 1
    assert sorted(made.world.calls) == list(KEYS)
    assert [step["n"] for step in sorted(state["trajectory"], key=lambda step: step["n"])] == [1, 2, 3, 4]


async def test_with_fewer_at_a_time_the_failed_one_waits_for_those_that_begin_after_it(
    run: Callable[..., Run],
) -> None:
    made = run({"a"}, turns={"b": 5, "c": 5, "d": 5})
    with pytest.raises(TransportError):
        await made.go({"task": "the task"}, max_concurrency=2)
    made.model.failing.clear()
    assert (await made.go(None, max_concurrency=2))["status"] == "answered"
    assert max(Counter(made.model.answered).values()) == 1


async def test_a_cancelled_run_is_not_held_up(run: Callable[..., Run]) -> None:
    made = run({"a"}, turns={"b": 10**9})
    going = asyncio.create_task(made.go({"task": "the task"}))
    for _ in range(100_000):
        if "ToolChoice d 2" in made.model.answered:
            break
        await asyncio.sleep(0)
    assert "ToolChoice d 2" in made.model.answered
    assert not going.done(), "it waits for b"
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    assert not node_wrapper._waves
