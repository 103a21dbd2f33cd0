"""Our agent with its experience: a correction takes the way of `/wrong`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from langgraph.store.base import BaseStore

from benchmarks.stream.contenders import Contender, Told
from forethought.app.teach import Said, correct
from forethought.evals.harness.budget import Meter
from forethought.evals.methods.ours import Ours
from forethought.evals.toolset import Toolset
from forethought.evals.types import TrialContext
from forethought.experience.book import Book, namespace_of
from forethought.graph.agent import AgentGraph
from forethought.storage import open_experience
from forethought.storage.address import file_address
from forethought.users import LOCAL_USER


@dataclass
class OursWithStore(Ours):
    """The agent with a Store."""

    store: BaseStore | None = None

    def _graph(self, trial: TrialContext, tools: Toolset, meter: Meter) -> AgentGraph:
        graph = super()._graph(trial, tools, meter)
        graph.store = self.store
        return graph


@dataclass
class Learner(Contender):
    """A contender whose corrections become advice."""

    book: Book | None = None

    async def correct(self, trial: TrialContext, told: Told) -> None:
        """See Contender."""
        assert isinstance(self.method, OursWithStore)
        assert self.book
        said = Said(told.words, trial.thread, 1, told.question, told.answer)
        await correct(said, self.book, trial.models, self.method.context(trial))


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Learner]:
    """The contender with its advice in `folder`."""
    async with open_experience(file_address(folder / "threads.sqlite")) as store:
        method = OursWithStore("ours-with", switches={"experience": True}, store=store)
        yield Learner(method, book=Book(store, namespace_of(LOCAL_USER, "default")))
