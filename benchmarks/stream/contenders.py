"""The methods of the stream: each answers tasks and takes in corrections."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from forethought.evals.baselines.react import React
from forethought.evals.methods.ours import Ours
from forethought.evals.types import Attempt, Method, TrialContext


@dataclass(frozen=True)
class Told:
    """A correction, and the task after whose answer it was given."""

    question: str
    answer: str
    words: str


@dataclass
class Contender:
    """A method that meets the stream without a memory of its own."""

    method: Method
    told: list[Told] = field(default_factory=list)
    """All corrections so far. The runner keeps them."""

    async def answer(self, trial: TrialContext) -> Attempt:
        """Answer a task. Raises ModelError and InfrastructureError."""
        return await self.method.run(trial)

    async def correct(self, trial: TrialContext, told: Told) -> None:
        """Take in a correction of the trial's answer. Raises ModelError."""


class PastedCorrections(Contender):
    """Every prompt holds all corrections."""

    async def answer(self, trial: TrialContext) -> Attempt:
        """See Contender."""
        if not self.told:
            return await super().answer(trial)
        said = "\n".join(f"- After the task {told.question!r}: {told.words}" for told in self.told)
        task = f"{trial.sample.task}\n\nI have corrected answers to earlier tasks:\n{said}"
        return await super().answer(replace(trial, sample=replace(trial.sample, task=task)))


@asynccontextmanager
async def without_memory(folder: Path) -> AsyncIterator[Contender]:
    """Our agent with its experience off."""
    yield Contender(Ours("ours-without", switches={"experience": False}))


@asynccontextmanager
async def pasted(folder: Path) -> AsyncIterator[Contender]:
    """ReAct with all corrections in the prompt."""
    yield PastedCorrections(React())


@asynccontextmanager
async def ours(folder: Path) -> AsyncIterator[Contender]:
    """Our agent with its experience."""
    from benchmarks.stream.ours import opened

    async with opened(folder) as contender:
        yield contender


@asynccontextmanager
async def langmem(folder: Path) -> AsyncIterator[Contender]:
    """LangChain's agent with LangMem's tools."""
    from benchmarks.stream.langmem_agent import opened

    async with opened(folder) as contender:
        yield contender


Opening = Callable[[Path], AbstractAsyncContextManager[Contender]]
"""Opens a contender whose memory is in a folder."""
CONTENDERS: dict[str, Opening] = {
    "ours": ours,
    "ours-without": without_memory,
    "react": pasted,
    "langmem": langmem,
}
TITLES = {
    "ours": "Forethought",
    "ours-without": "Forethought without experience",
    "react": "ReAct, all corrections in the prompt",
    "langmem": "LangMem's tools",
}
