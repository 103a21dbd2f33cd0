"""A run that is cancelled leaves no update without its edge, whichever checkpointer keeps it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from forethought.graph.agent import build_agent
from forethought.graph.node_wrapper import inline_condition
from forethought.models.types import ModelRequest
from forethought.settings import Settings
from forethought.state.context import Context
from tests.support.crashes import Answers, Seen
from tests.support.replies import answer, diagnosis, finish, plan, sub

Json = dict[str, Any]
CONFIG: Any = {"configurable": {"thread_id": "t"}}


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
