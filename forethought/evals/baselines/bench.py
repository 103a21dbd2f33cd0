"""What a baseline works with besides its state: the tools, the model, and what both may still cost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, cast

from langgraph.runtime import Runtime

from forethought.evals.baselines.state import Limits, State, moves_of
from forethought.evals.harness.budget import Meter, MeteredTransport
from forethought.evals.prompts import render
from forethought.evals.toolset import Toolset
from forethought.evals.types import InfrastructureError, TrialContext
from forethought.models.allowance import Allowance
from forethought.models.ask import Models
from forethought.models.pricing import estimate_tokens
from forethought.models.types import Message, ReplySpec
from forethought.nodes.support.file_reader import FileReader
from forethought.nodes.support.prompt_text import files_text
from forethought.nodes.support.services import Services, Turn
from forethought.nodes.support.tool_env import CodeActions, Inspection
from forethought.state.agent import FileRef, Proposal
from forethought.state.context import Context
from forethought.state.folder import FolderRef
from forethought.tools.base import Observation, Tool, ToolEnv
from forethought.tools.call import call_tool
from forethought.tools.each.store import tables_in
from forethought.tools.files import FilesError, FileStore
from forethought.tools.folders.given import Access, access
from forethought.tools.folders.intake import take_paths
from forethought.tools.folders.listing import grouped
from forethought.tools.registry import offered

T = TypeVar("T")
ANSWER_SHARE = 0.1
"""Share of the token budget reserved for the answer, as in our agent."""
_ANSWER_TOKENS = 1_500
_MOST_CHARS = 200_000
"""Tokens of an answer's prompt."""
LONGEST_FORMAT = 300
_NAMES_CHARS = 12_000


@dataclass
class Bench:
    """One attempt's tools, model and means. It holds nothing that a checkpoint would need."""

    trial: TrialContext
    tools: Toolset
    meter: Meter
    """Usage of the attempt so far."""
    services: Services
    files: list[FileRef]
    folders: list[FolderRef]
    tables: dict[str, str] = field(default_factory=dict)
    """Keys of the tables that read_each has made, by name."""
    last_cost: int = 0
    """Tokens of the last call with its repairs: the expected cost of the next one."""

    @property
    def offered(self) -> dict[str, Tool]:
        """The tools that are of use with the sample's files."""
        return offered(self.tools, self.files, self.folders)

    @property
    def access(self) -> Access:
        """The files and folders as tools reach them."""
        return access(self.files, self.folders, self.trial.settings, self.services.store)

    @cached_property
    def file_list(self) -> str:
        """The files, and the names in a folder, alike ones as a range."""
        names = grouped(self.access["folders"].entries(), _NAMES_CHARS) if self.folders else []
        return "\n".join([files_text(self.files, self.folders), *names])

    async def ask(
        self,
        template: str,
        reply: ReplySpec[T],
        check: Callable[[T], str | None] | None = None,
        /,
        **values: Any,
    ) -> T:
        """The model's reply to a template. Raises ReplyError and the other ModelErrors, BudgetSpent."""
        sample = self.trial.sample
        shown = {
            "answer_format": sample.answer_format,
            "files": self.file_list,
            "earlier": sample.earlier,
            "world": self.tools.episode is not None,
            **values,
        }
        system, user = render(template, **shown)
        before = self.meter.tokens
        try:
            result = await self.services.models.ask(
                role="baseline",
                model=self.trial.model,
                messages=[Message("system", system), Message("user", user)],
                reply=reply,
                check=check,
            )
        finally:
            self.last_cost = self.meter.tokens - before
        return result.reply

    async def call(self, name: str, arguments: dict[str, Any], n: int) -> Observation:
        """Carry out one call. Raises InfrastructureError where not the task but the means failed."""
        reader = self.trial.context.get("reader_model")
        turn = Turn(self.services, Context(model=self.trial.model, reader_model=reader), Runtime())
        allowance = Allowance(tokens=max(self.trial.budget.max_tokens - self.meter.tokens, 0))
        inspection = Inspection(turn, allowance)
        env = ToolEnv(
            settings=self.services.settings,
            **self.access,
            inspect=inspection,
            look=inspection.look,
            read=FileReader(turn, allowance, cast(Proposal, {"n": n, "subtask": ""}), inspection.lacks),
            tables=self.tables,
            book=inspection.paid.append,
        )
        if name == "python":
            env = CodeActions(self.offered, env, {}, n, inspection).env
        observation = await call_tool(self.tools[name], arguments, env)
        self.tables.update(tables_in(observation.text))
        if inspection.missing:
            raise inspection.missing
        if self.tools.broken:
            raise self.tools.broken
        return observation

    def limits(self, steps: float = 1.0, tokens: float = 1.0) -> Limits:
        """The limits of a try that may use these shares of what is left."""
        counter, most = self.tools.counter, self.trial.budget.max_tokens
        left = max(most - self.meter.tokens, 0)
        share = int(left * tokens)
        return Limits(
            steps=counter.used + (max(round(counter.left * steps), 1) if counter.left else 0),
            tokens=self.meter.tokens + share,
            reserve=int(share * ANSWER_SHARE),
        )

    def spent(self, state: State) -> str:
        """Which of the try's limits leaves no room for another move: '', steps or tokens."""
        limits = state["limits"]
        if self.tools.counter.used >= limits["steps"] and self.tools:
            return "steps"
        reserve = max(limits["reserve"], self._answer_tokens(state), self.last_cost)
        return "tokens" if self.meter.tokens + reserve >= limits["tokens"] else ""

    def may_try_again(self, state: State) -> bool:
        """Whether a further try, and what is asked before it, can be paid."""
        left = self.trial.budget.max_tokens - self.meter.tokens
        needed = 3 * max(self._answer_tokens(state), self.last_cost)
        return bool(self.tools.counter.left or not self.tools) and left > needed

    def pays_another(self, state: State) -> bool:
        """Whether what is left pays for one more try at their mean cost, and for a move and an answer."""
        spent = self.meter.tokens
        needed = max(spent / state["number"], self.last_cost + self._answer_tokens(state))
        may_act = bool(self.tools.counter.left or not self.tools)
        return may_act and spent > 0 and needed <= self.trial.budget.max_tokens - spent

    def left(self, state: State) -> str:
        """What is left to the present try, for a prompt."""
        if not self.tools:
            return "There are no tools: finish with the answer."
        steps = max(state["limits"]["steps"] - self.tools.counter.used, 0)
        return f"Calls left: {steps}."

    def _answer_tokens(self, state: State) -> int:
        """What an answer from the present try's moves will cost, roughly."""
        seen = [move["observation"] + move["thought"] for move in moves_of(state)]
        shown = "".join([state.get("task", ""), *seen])
        return _ANSWER_TOKENS + estimate_tokens(shown[:_MOST_CHARS])


async def make_bench(trial: TrialContext) -> Bench:
    """The bench of an attempt. Raises InfrastructureError, and ConfigurationError where the model cannot be
    asked."""
    try:
        tools = trial.tools
        given = await asyncio.to_thread(take_paths, trial.sample.files, trial.settings)
    except (ValueError, FilesError) as error:
        raise InfrastructureError(f"sample {trial.sample.id}: {error}") from error
    meter = Meter()
    watched = MeteredTransport(trial.models.transport, (meter,), stop=lambda: tools.broken)
    models = Models(trial.settings, watched)
    await asyncio.to_thread(models.verify, [trial.model])
    store = FileStore.of(trial.settings)
    services = Services(trial.settings, dict(tools), models, store)
    return Bench(trial, tools, meter, services, given.files, given.folders)
