"""One trial of one sample with one method: the workshop, the attempt, its score, its record."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from forethought.evals.harness.choices import Choices
from forethought.evals.harness.empty import unanswered
from forethought.evals.harness.folder import RunFolder
from forethought.evals.harness.meter import Meter, MeteredTransport
from forethought.evals.results import UNSCORED, Result
from forethought.evals.toolset import make_toolset, toolset_of
from forethought.evals.types import (
    Attempt,
    BudgetSpent,
    Episode,
    InfrastructureError,
    Method,
    Sample,
    Score,
    Services,
    UnscoredError,
    Workshop,
)
from forethought.models.ask import Models
from forethought.models.types import ModelError, ReplyError, Transport, Usage
from forethought.settings import Settings
from forethought.text import one_line
from forethought.trajectories.types import Loaded, Outcome, Reference

_SEEDS = 2**31


@dataclass(frozen=True)
class Bench:
    """What all trials of an evaluation share."""

    choices: Choices
    settings: Settings
    transport: Transport
    """Answers model calls; within a sample of inspect they are logged."""
    saver: BaseCheckpointSaver[Any]
    folder: RunFolder
    spent: Meter
    """Everything that is paid for."""


@dataclass
class TrialRun:
    """A trial under way."""

    bench: Bench
    method: Method
    sample: Sample
    trial: int
    learned: Mapping[str, Any] = field(default_factory=dict)
    training: bool = False
    """Whether it is learned from, and not evaluated."""
    asked_outcome: bool = False
    attempt: Attempt | None = None
    seconds: float = 0.0
    _own: Meter = field(default_factory=Meter)
    _judging: Meter = field(default_factory=Meter)
    _episode: Episode | None = None

    @property
    def usage(self) -> Usage:
        """What the method's calls cost."""
        return self._own.usage

    @property
    def judge_usage(self) -> Usage:
        """What judges and simulated users cost."""
        return self._judging.usage

    async def run(self) -> Attempt:
        """Have the method try the sample. Raises ModelError, InfrastructureError, and what is a bug.

        A model that gives no usable reply, and a budget that ends where the method does not expect it, are
        no failure of the infrastructure: the attempt has no answer then.
        """
        started = time.monotonic()
        try:
            workshop = self.workshop()
            try:
                self.attempt = await self.method.run(workshop)
            except (ReplyError, BudgetSpent) as error:
                self.attempt = unanswered(error, workshop, self.usage)
            toolset_of(workshop).check_served()
        finally:
            self.seconds = time.monotonic() - started
            await self.close()
        return self.attempt

    def workshop(self) -> Workshop:
        """What the method is given. Raises InfrastructureError, and ValueError for tools that clash."""
        choices, benchmark = self.bench.choices, self.bench.choices.benchmark
        services = self._services()
        self._episode = benchmark.episode(self.sample, services)
        own = benchmark.tools(self.sample, services)
        may_ask = self.method.asks_outcome or self.training
        return Workshop(
            sample=replace(self.sample, target=None, groups={}, data={}),
            tools=make_toolset(
                self.bench.settings, choices.budget, self._episode, own, benchmark.builtin_tools
            ),
            episode=self._episode,
            models=Models(self.bench.settings, self._counted(self._own, choices.budget.max_tokens)),
            model=choices.model,
            settings=self.bench.settings,
            budget=choices.budget,
            checkpointer=self.bench.saver,
            thread=self._thread(),
            seed=(choices.seed * 1_000 + self.trial) % _SEEDS,
            outcome=self._outcome if may_ask else None,
            learned=self.learned,
            context=choices.context,
        )

    async def close(self) -> None:
        """Let go of the sample's world."""
        if self._episode is not None:
            episode, self._episode = self._episode, None
            await episode.close()

    async def score(self) -> Score:
        """The benchmark's score of the attempt. Raises ModelError and InfrastructureError."""
        assert self.attempt is not None
        return await self.bench.choices.benchmark.score(self.sample, self.attempt, self._services())

    async def result(self, score: Score) -> Result:
        """The record of a scored trial, its trajectory written. Raises InfrastructureError for a score that
        is no number, and OSError."""
        if not all(math.isfinite(value) for value in score.values.values()):
            raise InfrastructureError(f"the score is no number: {dict(score.values)}")
        main = float(score.values[self.bench.choices.benchmark.main_metric])
        return self._attempted(
            values={name: float(value) for name, value in score.values.items()},
            score=main,
            label=score.label,
            explanation=score.explanation,
            drafts_scores=await self._scores_of_drafts(),
            trajectory=self._keep_trajectory("success" if main >= 1 else "failure"),
        )

    def unscored(self, error: UnscoredError) -> Result:
        """The record of an attempt that cannot be scored here. Raises OSError."""
        why, trajectory = str(error), self._keep_trajectory("unknown")
        return self._attempted(score=None, label=UNSCORED, explanation=why, trajectory=trajectory)

    def failure(self, error: BaseException) -> Result:
        """The record of a trial that could not be tried or judged: it has no score."""
        line = one_line(error) or type(error).__name__
        known = isinstance(error, ModelError | InfrastructureError)
        answer = self.attempt.answer if self.attempt else ""
        return self._record(
            score=None,
            answer=answer,
            error=one_line(line if known else f"{type(error).__name__}: {line}", 1_000),
        )

    def _attempted(self, **fields: Any) -> Result:
        attempt = self.attempt
        assert attempt is not None
        return self._record(
            answer=attempt.answer,
            status=attempt.status,
            steps=attempt.steps,
            reward=attempt.reward,
            tries=attempt.tries,
            self_scores={role: list(scores) for role, scores in attempt.self_scores.items()},
            plan_errors=[list(errors) for errors in attempt.plan_errors],
            **fields,
        )

    def _record(self, **fields: Any) -> Result:
        return Result(
            method=self.method.name,
            sample=self.sample.id,
            trial=self.trial,
            groups=dict(self.sample.groups),
            usage=self.usage,
            judge_usage=self.judge_usage,
            seconds=round(self.seconds, 3),
            floor=self.bench.choices.benchmark.floor(self.sample),
            thread=self._thread(),
            asked_outcome=self.asked_outcome,
            **fields,
        )

    def _thread(self) -> str:
        name = f"{self.method.name}-training" if self.training else self.method.name
        return f"{name}--{self.sample.id}--{self.trial}"

    def _services(self, transport: Transport | None = None) -> Services:
        choices = self.bench.choices
        return Services(
            settings=self.bench.settings,
            models=Models(self.bench.settings, transport or self._counted(self._judging)),
            judge_model=choices.judge_model,
            user_model=choices.user_model,
        )

    def _counted(self, meter: Meter, max_tokens: int | None = None) -> MeteredTransport:
        return MeteredTransport(self.bench.transport, (meter, self.bench.spent), max_tokens)

    async def _outcome(self, attempt: Attempt) -> bool:
        """The benchmark's verdict on a try: whether it reached the highest score."""
        self.asked_outcome = True
        benchmark = self.bench.choices.benchmark
        score = await benchmark.score(self.sample, attempt, self._services())
        return score.values[benchmark.main_metric] >= 1

    async def _scores_of_drafts(self) -> list[float]:
        """Scores of the earlier answers, where an answer is all that counts and no model judges it."""
        attempt, benchmark = self.attempt, self.bench.choices.benchmark
        assert attempt is not None
        if attempt.reward is not None or not attempt.drafts:
            return []
        services = self._services(_NoModel())
        scores = []
        for draft in attempt.drafts:
            try:
                score = await benchmark.score(self.sample, replace(attempt, answer=draft), services)
            except (ModelError, InfrastructureError):
                return []
            scores.append(float(score.values[benchmark.main_metric]))
        return scores

    def _keep_trajectory(self, outcome: Outcome) -> str:
        assert self.attempt is not None
        target = self.sample.target
        gold = (target,) if isinstance(target, str) else tuple(target) if _texts(target) else ()
        loaded = Loaded(
            trajectory=self.attempt.trajectory,
            reference=Reference(outcome=outcome, gold=gold),
        )
        return self.bench.folder.keep_trajectory(self.method.name, self.sample.id, self.trial, loaded)


class _NoModel:
    """Refuses: drafts are not worth a judge's call each."""

    async def send(self, request: Any) -> Any:
        raise InfrastructureError("no model is asked about a draft")


def _texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
