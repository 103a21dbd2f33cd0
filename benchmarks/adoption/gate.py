"""Threads of past tasks, and the learner that gates an advice on them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from benchmarks.adoption.model import Candidate, PlanningModel
from benchmarks.adoption.tasks import FAULTS, Fault, Task
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
    failed: Mapping[Fault, Iterator[str]]
    """Threads of failed tasks, by kind, over and over."""
    kinds: Iterator[Fault]
    """Kinds for advice that is about none."""

    async def weigh(self, candidate: Candidate) -> Advice:
        """Offer an advice after a failed task, and return it as the gate kept it."""
        self.model.offered = candidate
        book = Book(InMemoryStore(), namespace_of(LOCAL_USER, "default"))
        kind = next(self.kinds) if candidate.about is None else candidate.about
        thread = next(self.failed[kind])
        learner = build_learner(self.settings, InMemorySaver(), self.lab, book)
        result = await learner.ainvoke(
            {"thread_id": thread, "number": 1, "correction": "", "expect": ""},
            {"configurable": {"thread_id": "learn"}},
            context=self.context,
        )
        if result["status"] != "learned":
            raise RuntimeError(f"{candidate.text}: {result.get('problem') or result['notes']}")
        return Advice.model_validate(result["advice"])


@asynccontextmanager
async def opened(made: list[Task], model: PlanningModel, context: LearnerContext) -> AsyncIterator[Gate]:
    """Carry all tasks out with the model, and open the gate on their threads."""
    server, saver = ModelServer(model), InMemorySaver()
    with TemporaryDirectory() as folder:
        settings = Settings(base_url=server.url, model=MODEL, data_dir=Path(folder))
        try:
            succeeded: list[str] = []
            failed: dict[Fault, list[str]] = {kind: [] for kind in FAULTS}
            tools: dict[str, Tool] = {}
            for number, task in enumerate(made):
                own, thread = task.tools(), f"{task.kind}-{number}"
                tools |= {tool.name: tool for tool in own}
                graph = build_agent(own, settings, saver, builtin=())
                config: RunnableConfig = {"configurable": {"thread_id": thread}}
                result = await graph.ainvoke({"task": task.question}, config, context=Context())
                right = result["messages"][-1].content == str(task.answer)
                (succeeded if right else failed[task.kind]).append(thread)
            agent = build_agent([*tools.values()], settings, InMemorySaver(), builtin=())
            agent.bounds = False  # type: ignore[attr-defined]  # these writes are our own
            threads = build_agent([*tools.values()], settings, saver, builtin=())

            async def newest() -> list[str]:
                return succeeded

            lab = Lab(threads, agent, Context(), tools, newest)
            threads_of = {kind: cycle(found) for kind, found in failed.items()}
            yield Gate(model, lab, settings, context, threads_of, cycle(FAULTS))
        finally:
            server.close()
