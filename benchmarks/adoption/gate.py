"""Threads of past tasks, and the learner that gates an advice on them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from benchmarks.adoption.model import Candidate, PlanningModel
from benchmarks.adoption.tasks import FAULTS, Task
from forethought.experience.advice import Advice
from forethought.experience.book import Book, namespace_of
from forethought.graph.agent import build_agent
from forethought.graph.learner import build_learner
from forethought.nodes.learner.lab import Lab
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.state.learner import LearnerContext
from forethought.tools.base import Tool
from forethought.users import LOCAL_USER
from tests.support.model_server import ModelServer

MODEL = "openai:scripted"


@dataclass
class Gate:
    """The learner on the threads of past tasks."""

    model: PlanningModel
    lab: Lab
    settings: Settings
    context: LearnerContext
    failed: Mapping[str, list[str]]
    """Threads of failed tasks, by kind."""
    used: dict[str, int] = field(default_factory=dict)

    async def weigh(self, candidate: Candidate) -> Advice:
        """Offer an advice after a failed task, and return it as the gate kept it."""
        self.model.offered = candidate
        book = Book(InMemoryStore(), namespace_of(LOCAL_USER, "default"))
        learner = build_learner(self.settings, InMemorySaver(), self.lab, book)
        result = await learner.ainvoke(
            {"thread_id": self._failure(candidate), "number": 1, "correction": "", "expect": ""},
            {"configurable": {"thread_id": "learn"}},
            context=self.context,
        )
        if result["status"] != "learned":
            raise RuntimeError(f"{candidate.text}: {result.get('problem') or result['notes']}")
        return Advice.model_validate(result["advice"])

    def _failure(self, candidate: Candidate) -> str:
        """A failed task from which such an advice would come, another one each time."""
        kind = candidate.about or FAULTS[self.used.get("", 0) % len(FAULTS)]
        self.used[""] = self.used.get("", 0) + 1
        threads = self.failed[kind]
        self.used[kind] = self.used.get(kind, -1) + 1
        return threads[self.used[kind] % len(threads)]


@asynccontextmanager
async def opened(made: list[Task], model: PlanningModel, context: LearnerContext) -> AsyncIterator[Gate]:
    """Carry all tasks out with the model, and open the gate on their threads."""
    server, saver = ModelServer(model), InMemorySaver()
    with TemporaryDirectory() as folder:
        settings = Settings(base_url=server.url, model=MODEL, data_dir=Path(folder))
        try:
            succeeded, failed = [], {kind: [] for kind in FAULTS}
            tools: dict[str, Tool] = {}
            for number, task in enumerate(made):
                own, thread = task.tools(), f"{task.kind}-{number}"
                tools |= {tool.name: tool for tool in own}
                graph = build_agent(own, settings, saver, builtin=())
                config = {"configurable": {"thread_id": thread}}
                result = await graph.ainvoke({"task": task.question}, config, context=Context())
                right = result["messages"][-1].content == str(task.answer)
                (succeeded if right else failed[task.kind]).append(thread)
            agent = build_agent([*tools.values()], settings, InMemorySaver(), builtin=())
            agent.bounds = False
            threads = build_agent([*tools.values()], settings, saver, builtin=())

            async def newest() -> list[str]:
                return succeeded

            yield Gate(model, Lab(threads, agent, Context(), tools, newest), settings, context, failed)
        finally:
            server.close()
