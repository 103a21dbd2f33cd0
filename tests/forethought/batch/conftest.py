"""A queue in a database of its own, and a scripted model that answers each task in four calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from forethought.batch import BatchTask, Queue, Submission, WorkerOptions, open_queue, submit, work, worker
from forethought.batch.job import JobResult
from forethought.settings import Settings
from forethought.shutdown import Shutdown
from forethought.state.context import Context
from tests.support.agent import Script, kind_of
from tests.support.model_server import ModelServer, SeenRequest
from tests.support.replies import finish


def script(**options: Any) -> Script:
    """A model whose only move ends the subtask."""
    return Script(**{"moves": {"a": [finish("seen")]}, **options})


@dataclass
class Bench:
    """A queue and what its workers ask."""

    queue: Queue
    settings: Settings
    server: ModelServer
    ended: dict[str, JobResult] = field(default_factory=dict)
    """By thread: how its job last ended."""
    put_back: list[tuple[str, str]] = field(default_factory=list)

    async def submit(self, *tasks: str | BatchTask, batch: str = "b", **options: Any) -> Submission:
        """Submit tasks; a text is both a task and its id."""
        made = [task if isinstance(task, BatchTask) else BatchTask(id=task, task=task) for task in tasks]
        context = options.pop("context", Context(model="openai:scripted"))
        return await submit(self.queue, made, context, self.settings, batch=batch, **options)

    async def work(self, shutdown: Shutdown | None = None, **options: Any) -> Counter[str]:
        """Work until the queue is empty."""
        chosen = {"until_empty": True, "attempts": 3, "first_wait_s": 0.05, **options}
        chosen_options = WorkerOptions(on_ended=self._ended, on_put_back=self._put_back, **chosen)
        return await work(self.queue, self.settings, chosen_options, shutdown=shutdown)

    async def states(self) -> dict[str, str]:
        """The state of each job."""
        from forethought.batch.progress import list_jobs

        return {job["id"]: job["state"] async for job in list_jobs(self.queue)}

    async def values(self, thread_id: str) -> dict[str, Any]:
        """What a thread holds."""
        from forethought.graph.agent import build_agent

        graph = build_agent(settings=self.settings, checkpointer=self.queue.threads)
        return dict((await graph.aget_state({"configurable": {"thread_id": thread_id}})).values)

    def asked(self, task: str) -> list[str]:
        """The kinds of replies that were asked for a task."""
        return [kind_of(seen) for seen in self.server.requests if f"{task}\n" in f"{seen.text}\n"]

    def _ended(self, thread_id: str, result: JobResult, seconds: float) -> None:
        self.ended[thread_id] = result

    def _put_back(self, thread_id: str, why: str) -> None:
        self.put_back.append((thread_id, why))


MakeBench = Callable[..., Any]


@pytest.fixture
def bench(
    model_server: Callable[..., ModelServer],
    settings: Callable[..., Settings],
    postgres: str,
    monkeypatch: pytest.MonkeyPatch,
) -> MakeBench:
    """Open a queue: `async with bench(script) as b`; other settings by name. Its workers look often."""
    monkeypatch.setattr(worker, "_POLL_S", 0.05)
    monkeypatch.setattr(worker, "_LOOK_S", 0.05)

    @asynccontextmanager
    async def opened(
        policy: Callable[[SeenRequest], Any] | None = None, **options: Any
    ) -> AsyncIterator[Bench]:
        server = model_server(policy or script())
        made = settings(server, **{"db": postgres, "request_retries": 0, **options})
        async with open_queue(made) as queue:
            yield Bench(queue, made, server)

    return opened


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that take a minute run only when they are asked for."""
    if "scale" in str(config.option.markexpr):
        return
    for item in items:
        if item.get_closest_marker("scale"):
            item.add_marker(pytest.mark.skip(reason="takes a minute: make test-scale"))
