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
from forethought.evals.harness.story import shortened, telling
from forethought.evals.harness.trial import Bench, TrialRun
from forethought.evals.results import Result
from forethought.evals.types import Attempt, InfrastructureError, Method, Sample, UnscoredError

Key = tuple[str, int]
"""A sample's id, and which trial of it."""
BACKSTOP = 3
"""Times the budget: what a sample may cost with its judges and simulated users before inspect ends it."""


@dataclass
class MethodRun:
    """One method on the samples of an evaluation."""

    bench: Bench
    method: Method
    control: Control
    open: Collection[Key]
    """What is to be run."""
    learned: Mapping[str, JsonValue] = field(default_factory=dict)
    finished: Callable[[Result], None] = lambda result: None
    """Told of each trial that has ended."""
    _running: dict[Key, TrialRun] = field(default_factory=dict)

    def task(self) -> Task:
        """The task that inspect runs."""
        choices = self.bench.choices
        ids = {id for id, _ in self.open}
        samples = [_sample(sample) for sample in choices.samples if sample.id in ids]
        return Task(
            dataset=inspect_dataset.MemoryDataset(samples, name=choices.benchmark.name),
            solver=agent(self),
            scorer=judged(self),
            epochs=Epochs(max((trial for _, trial in self.open), default=1), "mean"),
            early_stopping=self,
            fail_on_error=False,
            cleanup=self._leave,
            model=inspect_name(choices.model),
            name=f"{choices.benchmark.name}-{self.method.name}",
            metadata={"method": self.method.about, "options": dict(choices.options)},
        )

    # inspect's protocol of early stopping: which samples begin

    async def start_task(self, task: EvalSpec, samples: list[inspect_dataset.Sample], epochs: int) -> str:
        """The name under which the log tells of samples that were not begun."""
        return "forethought"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        """Wait for a place; a sample is not begun that is finished, or that the caps do not allow, or once
        the evaluation is to stop."""
        key = (str(id), epoch)
        if key not in self.open:
            return EarlyStop(id=id, epoch=epoch, reason="finished, or not asked for")
        await self.control.gate.enter((epoch, self._place(key[0])))
        if not self.control.may_begin():
            self.control.gate.leave()
            capped = self.control.capped
            reason = "the cap of the evaluation is reached" if capped else "the evaluation is stopped"
            return EarlyStop(id=id, epoch=epoch, reason=reason)
        sample = self.bench.choices.samples[self._place(key[0])]
        self._running[key] = TrialRun(self.bench, self.method, sample, epoch, self.learned)
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
        if self._running.pop((str(state.sample_id), state.epoch), None):
            self.control.gate.leave()

    # what the solver and the scorer do

    async def attempt(self, key: Key) -> Attempt:
        """Have the sample tried, within inspect's limits. Raises what made it impossible, once it is kept."""
        run, choices = self._running[key], self.bench.choices
        try:
            with (
                time_limit(choices.seconds),
                token_limit(round(choices.budget.max_tokens * BACKSTOP)),
                telling(),
            ):
                return await run.run()
        except LimitExceededError as error:
            known = InfrastructureError(_limit_line(error))
            self._failed(run, known)
            raise known from error
        except Exception as error:
            self._failed(run, error)
            raise

    async def judge(self, key: Key) -> Result:
        """Have the attempt judged and its record kept. Raises what made it impossible, once that is kept."""
        run = self._running[key]
        try:
            with time_limit(self.bench.choices.seconds):
                result = await self._scored(run)
        except LimitExceededError as error:
            known = InfrastructureError(f"its judge: {_limit_line(error)}")
            self._failed(run, known)
            raise known from error
        except Exception as error:
            self._failed(run, error)
            raise
        self.control.succeeded()
        self._keep(result)
        return result

    async def _scored(self, run: TrialRun) -> Result:
        try:
            return await run.result(await run.score())
        except UnscoredError as error:
            return run.unscored(error)

    def _failed(self, run: TrialRun, error: Exception) -> None:
        self._keep(run.failure(error))
        self.control.failed(error)

    def _keep(self, result: Result) -> None:
        self.bench.folder.keep(result)
        self.finished(result)

    def _place(self, id: str) -> int:
        return next(at for at, sample in enumerate(self.bench.choices.samples) if sample.id == id)


@solver
def agent(run: MethodRun) -> Solver:
    """The method, as inspect's solver."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        attempt = await run.attempt((str(state.sample_id), state.epoch))
        transcript().info(_told(attempt), source=run.method.name)
        state.messages.append(ChatMessageAssistant(content=attempt.answer, source="generate"))
        state.output = ModelOutput.from_content(str(state.model), attempt.answer)
        state.completed = True
        return state

    return solve


@scorer(metrics=[mean(), stderr()])
def judged(run: MethodRun) -> Scorer:
    """The benchmark's score, as inspect's scorer."""

    async def score(state: TaskState, target: Target) -> inspect_scorer.Score:
        result = await run.judge((str(state.sample_id), state.epoch))
        if result.score is None:
            return inspect_scorer.Score.unscored(answer=result.answer, explanation=result.explanation)
        told = {"values": result.values, "label": result.label, "status": result.status}
        return inspect_scorer.Score(
            value=result.score,
            answer=result.answer,
            explanation=result.explanation or None,
            metadata={**told, "thread": result.thread, "trajectory": result.trajectory},
        )

    return score


def _sample(sample: Sample) -> inspect_dataset.Sample:
    target = sample.target
    return inspect_dataset.Sample(
        id=sample.id,
        input=sample.task or sample.id,
        target=target if isinstance(target, str) else json.dumps(target, ensure_ascii=False, default=str),
        metadata={"groups": dict(sample.groups), "files": [file.name for file in sample.files]},
    )


def _told(attempt: Attempt) -> JsonValue:
    told: JsonValue = shortened(
        {
            "status": attempt.status,
            "answer": attempt.answer,
            "steps": attempt.steps,
            "tries": attempt.tries,
            "reward": attempt.reward,
            "self_scores": attempt.self_scores,
        }
    )
    return told


def _limit_line(error: LimitExceededError) -> str:
    kind = "seconds" if error.type == "time" else "tokens, judges and simulated users included,"
    return f"more than {error.limit:g} {kind} were taken"
