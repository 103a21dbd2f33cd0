"""One trial of one sample with one method: the attempt, its score, its record."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from forethought.evals.harness.budget import Meter, MeteredTransport
from forethought.evals.harness.folder import RunFolder
from forethought.evals.harness.plan import EvaluationPlan
from forethought.evals.results import UNSCORED, Result
from forethought.evals.toolset import Toolset, make_toolset
from forethought.evals.types import (
    Attempt,
    BudgetSpent,
    Episode,
    InfrastructureError,
    Method,
    Sample,
    Services,
    TrialContext,
    UnscoredError,
)
from forethought.models.ask import Models
from forethought.models.types import ModelError, ReplyError, Transport
from forethought.settings import Settings
from forethought.text import one_line
from forethought.trajectories.types import Loaded, Outcome, Reference, Trajectory

_SEEDS = 2**31


@dataclass(frozen=True)
class EvaluationRun:
    """What all trials of an evaluation share."""

    plan: EvaluationPlan
    settings: Settings
    transport: Transport
    """Answers model calls, and logs them within a sample of inspect."""
    saver: BaseCheckpointSaver[Any]
    folder: RunFolder
    spent: Meter
    """The usage of the method, judges and simulated users."""


@dataclass
class Trial:
    """A trial under way."""

    run: EvaluationRun
    method: Method
    sample: Sample
    number: int
    learned: Mapping[str, Any] = field(default_factory=dict)
    training: bool = False
    """Whether the trial is training, not evaluation."""
    attempt: Attempt | None = None
    own: Meter = field(default_factory=Meter)
    """What the method's calls cost."""
    judging: Meter = field(default_factory=Meter)
    """What judges and simulated users cost."""
    _seconds: float = 0.0
    _asked_outcome: bool = False
    _episode: Episode | None = None

    async def try_sample(self) -> Attempt:
        """Have the method try the sample. Raises ModelError, InfrastructureError, and what is a bug.

        A model that gives no usable reply, and a budget that ends where the method does not expect it, are
        no failure of the infrastructure: the attempt has no answer then.
        """
        started = time.monotonic()
        try:
            context = self.context()
            try:
                self.attempt = await self.method.run(context)
            except (ReplyError, BudgetSpent) as error:
                self.attempt = self._unanswered(error, context.tools)
            context.tools.check_served()
        finally:
            self._seconds = time.monotonic() - started
            await self.close()
        return self.attempt

    def context(self) -> TrialContext:
        """What the method is given. Raises InfrastructureError, and ValueError for tools that clash."""
        plan, benchmark, settings = self.run.plan, self.run.plan.benchmark, self.run.settings
        services = self._services(self._counted(self.judging))
        self._episode = benchmark.episode(self.sample, services)
        own = benchmark.tools(self.sample, services)
        may_ask = self.method.asks_outcome or self.training
        return TrialContext(
            sample=replace(self.sample, target=None, groups={}, data={}),
            tools=make_toolset(settings, plan.budget, self._episode, own, benchmark.builtin(self.sample)),
            episode=self._episode,
            models=Models(settings, self._counted(self.own, plan.budget.max_tokens)),
            model=plan.model,
            settings=settings,
            budget=plan.budget,
            checkpointer=self.run.saver,
            thread=self._thread,
            seed=(plan.seed * 1_000 + self.number) % _SEEDS,
            outcome=self._outcome if may_ask else None,
            references=tuple(benchmark.references(self.sample)) if self.training else (),
            learned=self.learned,
            context=plan.context,
        )

    async def close(self) -> None:
        """Let go of the sample's world."""
        if self._episode is not None:
            episode, self._episode = self._episode, None
            await episode.close()

    async def judge(self) -> Result:
        """The record of the attempt with its score, its trajectory written.

        Raises ModelError, InfrastructureError (also for a score that is no number) and OSError.
        """
        attempt, benchmark = self.attempt, self.run.plan.benchmark
        assert attempt is not None
        judged: dict[str, Any]
        try:
            score = await benchmark.score(self.sample, attempt, self._services(self._counted(self.judging)))
        except UnscoredError as error:
            judged = {"score": None, "label": UNSCORED, "explanation": str(error)}
            outcome: Outcome = "unknown"
        else:
            if not all(math.isfinite(value) for value in score.values.values()):
                raise InfrastructureError(f"the score is not a number: {dict(score.values)}")
            main = float(score.values[benchmark.main_metric])
            outcome = "success" if main >= 1 else "failure"
            values = {name: float(value) for name, value in score.values.items()}
            judged = {"score": main, "values": values, "label": score.label, "explanation": score.explanation}
        return self._record(
            **judged,
            trajectory=self._keep_trajectory(attempt.trajectory, outcome),
            answer=attempt.answer,
            status=attempt.status,
            steps=attempt.steps,
            reward=attempt.reward,
            tries=attempt.tries,
            self_scores={role: list(scores) for role, scores in attempt.self_scores.items()},
            plan_errors=[list(errors) for errors in attempt.plan_errors],
            retries=[dict(retry) for retry in attempt.retries],
            costs=list(attempt.costs),
        )

    def failure(self, error: BaseException) -> Result:
        """The record of a trial that could not be tried or judged: it has no score."""
        line = one_line(error) or type(error).__name__
        known = isinstance(error, ModelError | InfrastructureError)
        answer = self.attempt.answer if self.attempt else ""
        return self._record(
            score=None, answer=answer, error=(line if known else f"{type(error).__name__}: {line}")[:1_000]
        )

    def _record(self, **fields: Any) -> Result:
        return Result(
            method=self.method.name,
            sample=self.sample.id,
            trial=self.number,
            groups=dict(self.sample.groups),
            usage=self.own.usage,
            judge_usage=self.judging.usage,
            seconds=round(self._seconds, 3),
            floor=self.run.plan.benchmark.floor(self.sample),
            thread=self._thread,
            asked_outcome=self._asked_outcome,
            **fields,
        )

    def _unanswered(self, error: Exception, tools: Toolset) -> Attempt:
        """An attempt without an answer, whose trajectory says why."""
        spent = isinstance(error, BudgetSpent)
        trajectory = Trajectory(
            id=self._thread,
            task=self.sample.task or self.sample.id,
            environment=self._episode.name if self._episode else "",
            halted=spent,
            notes=(one_line(error),),
        )
        return Attempt(
            answer="",
            status="budget_exhausted" if spent else "failed",
            trajectory=trajectory,
            usage=self.own.usage,
            seconds=self.own.usage["seconds"],
            steps=tools.counter.used,
            reward=tools.reward,
        )

    @property
    def _thread(self) -> str:
        name = f"{self.method.name}-training" if self.training else self.method.name
        return f"{name}--{self.sample.id}--{self.number}"

    def _services(self, transport: Transport) -> Services:
        plan, settings = self.run.plan, self.run.settings
        return Services(settings, Models(settings, transport), plan.judge_model, plan.user_model)

    def _counted(self, meter: Meter, max_tokens: int | None = None) -> MeteredTransport:
        return MeteredTransport(self.run.transport, (meter, self.run.spent), max_tokens)

    async def _outcome(self, attempt: Attempt) -> bool:
        """The benchmark's verdict on a try: whether it reached the highest score."""
        self._asked_outcome = True
        benchmark = self.run.plan.benchmark
        score = await benchmark.score(self.sample, attempt, self._services(self._counted(self.judging)))
        return score.values[benchmark.main_metric] >= 1

    def _keep_trajectory(self, trajectory: Trajectory, outcome: Outcome) -> str:
        known = tuple(self.run.plan.benchmark.references(self.sample))
        # Where the target is no text, answers are not held against it: it is a solution, one of several.
        answers = isinstance(self.sample.target, str | list | tuple)
        told = {"gold": known} if answers else {"solution": "\n\n".join(known)}
        loaded = Loaded(trajectory=trajectory, reference=Reference(outcome=outcome, **told))
        return self.run.folder.keep_trajectory(self.method.name, self.sample.id, self.number, loaded)
