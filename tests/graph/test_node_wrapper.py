"""What nodes and edges are wrapped in: errors without secrets, edges taken whole, siblings waited for."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from pydantic import BaseModel

from forethought.graph import node_wrapper
from forethought.graph.agent import build_agent
from forethought.graph.node_wrapper import inline_condition, wrap_node
from forethought.models.types import ModelReply, ModelRequest, TransportError
from forethought.settings import Settings
from forethought.state.context import Context
from tests.support.agent import World
from tests.support.crashes import Answers, Seen
from tests.support.paying import name
from tests.support.replies import answer, call, diagnosis, finish, plan, sub

CONFIG: Any = {"configurable": {"thread_id": "t"}}
SECRET = "sk-of-the-settings"


class Number(BaseModel):
    n: int


def plain() -> None:
    raise ValueError(f"refused {SECRET}")


def grouped() -> None:
    raise ExceptionGroup("two", [OSError(2, "none", f"/of/{SECRET}"), RuntimeError(SECRET)])


def of_pydantic() -> None:
    Number.model_validate({"n": SECRET})


@pytest.mark.parametrize(
    ("fail", "raised"),
    [(plain, ValueError), (grouped, ExceptionGroup), (of_pydantic, RuntimeError)],
)
async def test_no_error_of_a_node_is_stored_with_a_secret(
    settings: Callable[..., Settings], fail: Callable[[], None], raised: type[Exception]
) -> None:
    async def node(state: Any, services: Any) -> Any:
        fail()

    saver = InMemorySaver()
    graph: Any = StateGraph(dict)
    graph.add_node("node", wrap_node(node, SimpleNamespace(settings=settings(api_key=SECRET))))
    graph.add_edge(START, "node")
    with pytest.raises(raised) as caught:
        await graph.compile(checkpointer=saver).ainvoke({"x": 1}, CONFIG)
    stored = str([saver.storage, saver.writes, saver.blobs])
    assert "[secret]" in stored
    assert SECRET not in stored + repr(caught.value)


Json = dict[str, Any]


class CancellingLoop(asyncio.SelectorEventLoop):
    """An event loop that cancels a task in its `at`th round."""

    rounds = 0
    proposed = 0
    """The round in which the last move was proposed."""
    at: int | None = None
    task: asyncio.Task[Any] | None = None

    def _run_once(self) -> None:
        self.rounds += 1
        if self.at == self.rounds and self.task is not None:
            self.task.cancel()
        super()._run_once()  # type: ignore[misc]


def reply(request: ModelRequest) -> Json:
    """Two subtasks side by side that are finished at once."""
    replies = {"Plan": plan(sub("a"), sub("b")), "PlanDiagnosis": diagnosis(), "AnswerDraft": answer("done")}
    return replies.get(request.reply) or finish("done")


@asynccontextmanager
async def in_memory(path: Path) -> AsyncIterator[Any]:
    yield InMemorySaver()


@asynccontextmanager
async def in_sqlite(path: Path) -> AsyncIterator[Any]:
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        yield saver


def cancelled_at(at: int | None, opened: Callable[[Path], Any], path: Path) -> tuple[int, Json]:
    """Run, cancelled in round `at`, and go on: when the last move was proposed, and the state at the end."""
    loop = CancellingLoop()

    def noted(request: ModelRequest) -> str:
        if request.reply == "ToolChoice":
            loop.proposed = loop.rounds
        return request.reply

    async def run() -> tuple[int, Json]:
        async with opened(path) as saver:
            transport = Answers(reply, noted, Seen())
            settings = Settings(data_dir=path.parent)
            graph: Any = build_agent(settings=settings, checkpointer=saver, transport=transport)

            async def go(given: Json | None) -> None:
                await graph.ainvoke(given, CONFIG, context=Context(), durability="sync")

            loop.rounds, loop.at, loop.task = 0, at, asyncio.create_task(go({"task": "t"}))
            await asyncio.gather(loop.task, return_exceptions=True)
            proposed, loop.at = loop.proposed, None
            if loop.task.cancelled():
                begun = (await graph.aget_state(CONFIG)).created_at is not None
                await go(None if begun else {"task": "t"})
            return proposed, dict((await graph.aget_state(CONFIG)).values)

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(run())


@pytest.mark.parametrize(
    ("opened", "every"), [(in_memory, 1), (in_sqlite, 4)], ids=["memory", "plain-sqlite"]
)
def test_cancelled_around_its_proposals_a_run_loses_no_step(
    tmp_path: Path, opened: Callable[[Path], Any], every: int
) -> None:
    proposed, _ = cancelled_at(None, opened, tmp_path / "whole.sqlite")
    for at in range(proposed, proposed + 16, every):
        _, state = cancelled_at(at, opened, tmp_path / f"{at}.sqlite")
        steps = sorted(step["n"] for step in state["trajectory"])
        assert (state["status"], steps) == ("answered", [1, 2]), f"cancelled in round {at}, {proposed=}"


def test_a_condition_is_asked_without_giving_way_to_the_event_loop() -> None:
    asking = inline_condition(lambda state: state["next"]).ainvoke({"next": "b"})
    with pytest.raises(StopIteration) as done:
        asking.send(None)
    assert done.value.value == "b"


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
