"""An evaluation as inspect's tasks: one a method, its trials as epochs; what is finished is not run again."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from inspect_ai import Epochs, Task
from inspect_ai import dataset as inspect_dataset
from inspect_ai import scorer as inspect_scorer
from inspect_ai.log import EvalSpec, transcript
from inspect_ai.model import ChatMessageAssistant, ModelOutput
from inspect_ai.scorer import Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import EarlyStop, LimitExceededError, time_limit, token_limit
from pydantic import JsonValue

from forethought.evals.harness.control import Control
from forethought.evals.harness.inspect_model import inspect_name
from forethought.evals.harness.trial import EvaluationRun, Trial
from forethought.evals.results import Result
from forethought.evals.types import Attempt, InfrastructureError, Method, Sample

Key = tuple[str, int]
"""A sample's id and the number of its trial."""
BACKSTOP = 3
"""Multiple of the token budget at which inspect ends a sample, judges and simulated users included."""


@dataclass
class MethodTask:
    """One method on the samples of an evaluation."""

    run: EvaluationRun
    method: Method
    control: Control
    open: Collection[Key]
    """The evaluation to run."""
    learned: Mapping[str, JsonValue] = field(default_factory=dict)
    finished: Callable[[Result], None] = lambda result: None
    """Called with each finished trial."""
    _begun: set[Key] = field(default_factory=set)
    results: dict[Key, Result] = field(default_factory=dict)
    """Results of the finished trials."""

    def task(self) -> Task:
        """The task that inspect runs."""
        plan = self.run.plan
        ids = {id for id, _ in self.open}
        samples = [_inspect_sample(sample) for sample in plan.samples if sample.id in ids]
        return Task(
            dataset=inspect_dataset.MemoryDataset(samples, name=plan.benchmark.name),
            solver=agent(self),
            scorer=judged(self),
            epochs=Epochs(max((trial for _, trial in self.open), default=1), "mean"),
            early_stopping=self,
            fail_on_error=False,
            cleanup=self._leave,
            model=inspect_name(plan.model),
            name=f"{plan.benchmark.name}-{self.method.name}",
            metadata={"method": self.method.about, "options": dict(plan.options)},
        )

    # inspect's protocol of early stopping: which samples begin

    async def start_task(self, task: EvalSpec, samples: list[inspect_dataset.Sample], epochs: int) -> str:
        """The name under which the log tells of samples that were not begun."""
        return "forethought"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        """Wait for a place; a sample is not begun that is finished, or that the caps do not allow, or once
        the evaluation is to stop."""
        if (str(id), epoch) not in self.open:
            return EarlyStop(id=id, epoch=epoch, reason="finished or not selected")
        await self.control.parallel.acquire()
        if not self.control.may_begin():
            self.control.parallel.release()
            capped = self.control.capped
            reason = "the cap of the evaluation is reached" if capped else "the evaluation was stopped"
            return EarlyStop(id=id, epoch=epoch, reason=reason)
        self._begun.add((str(id), epoch))
        return None

    async def complete_sample(
        self, id: str | int, epoch: int, scores: dict[str, inspect_scorer.SampleScore]
    ) -> None:
        """Nothing is learned from scores."""

    async def complete_task(self) -> dict[str, JsonValue]:
        """Nothing more to tell."""
        return {}

    async def _leave(self, state: TaskState) -> None:
        """The sample is through, however it ended."""
        key = (str(state.sample_id), state.epoch)
        if key in self._begun:
            self._begun.remove(key)
            self.control.parallel.release()

    async def carry_out(self, key: Key) -> Attempt:
        """Have the sample tried and judged within inspect's limits, and its record kept.

        Raises what made it impossible, once that is kept.
        """
        sample = next(sample for sample in self.run.plan.samples if sample.id == key[0])
        trial = Trial(self.run, self.method, sample, key[1], self.learned)
        seconds, tokens = self.run.plan.seconds, round(self.run.plan.budget.max_tokens * BACKSTOP)
        try:
            with time_limit(seconds), token_limit(tokens):
                attempt = await trial.try_sample()
            with time_limit(seconds):
                result = await trial.judge()
        except LimitExceededError as limit:
            error = InfrastructureError(f"{'its judge: ' if trial.attempt else ''}{_limit_line(limit)}")
            self._failed(trial, error)
            raise error from limit
        except Exception as error:
            self._failed(trial, error)
            raise
        self.control.succeeded()
        self.results[key] = result
        self._keep(result)
        return attempt

    def _failed(self, trial: Trial, error: Exception) -> None:
        self._keep(trial.failure(error))
        self.control.failed(error)

    def _keep(self, result: Result) -> None:
        self.run.folder.keep(result)
        self.finished(result)


@solver
def agent(task: MethodTask) -> Solver:
    """The method and the benchmark's score, as inspect's solver: both are in the log then."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        attempt = await task.carry_out((str(state.sample_id), state.epoch))
        names = ("status", "answer", "steps", "tries", "reward")
        transcript().info({name: getattr(attempt, name) for name in names}, source=task.method.name)
        state.messages.append(ChatMessageAssistant(content=attempt.answer, source="generate"))
        state.output = ModelOutput.from_content(str(state.model), attempt.answer)
        state.completed = True
        return state

    return solve


@scorer(metrics=[mean(), stderr()])
def judged(task: MethodTask) -> Scorer:
    """The score that the trial has, as inspect's scorer."""

    async def score(state: TaskState, target: Target) -> inspect_scorer.Score:
        result = task.results[str(state.sample_id), state.epoch]
        if result.score is None:
            return inspect_scorer.Score.unscored(answer=result.answer, explanation=result.explanation)
        names = {"values", "label", "status", "thread", "trajectory"}
        return inspect_scorer.Score(
            value=result.score,
            answer=result.answer,
            explanation=result.explanation or None,
            metadata=result.model_dump(include=names),
        )

    return score


def _inspect_sample(sample: Sample) -> inspect_dataset.Sample:
    target = sample.target
    return inspect_dataset.Sample(
        id=sample.id,
        input=sample.task or sample.id,
        target=target if isinstance(target, str) else json.dumps(target, ensure_ascii=False, default=str),
        metadata={"groups": dict(sample.groups), "files": [file.name for file in sample.files]},
    )


def _limit_line(error: LimitExceededError) -> str:
    kind = "seconds" if error.type == "time" else "tokens (judges and simulated users included)"
    return f"the sample used more than {error.limit:g} {kind}"
