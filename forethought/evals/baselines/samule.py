"""SAMULE: retries guided by a reflector that learned from other tasks' failures (Ge et al. 2025, 3.2, 4).

Training: tries at the training samples, the multi-level synthesis of Algorithm 1 (our synthesizer's graph)
with the benchmark's verdicts and references, and its records for `forethought train export`.

Evaluation: Reflexion's loop, in which a trained retrospective model reflects (`--set retrospective_model`),
asked in the form of its training rows. Without one the evaluated model is prompted, in view of reflections on
error types and on the most similar tasks: our stand-in for the training of 3.2.2.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from forethought.evals.baselines.base import attempt_of
from forethought.evals.baselines.bench import Bench
from forethought.evals.baselines.expel import similar
from forethought.evals.baselines.inter_task import MOST_TYPES, learned_errors
from forethought.evals.baselines.learning import PARALLEL, synthesis, unlimited
from forethought.evals.baselines.react import React
from forethought.evals.baselines.reflexion import Reflexion, reflect, remembered
from forethought.evals.baselines.state import State
from forethought.evals.baselines.transcript import trajectory
from forethought.evals.types import BudgetSpent, InfrastructureError, TrialContext
from forethought.graph.synthesizer import build_synthesizer
from forethought.models.ask import Models
from forethought.models.types import Message, ReplyError, reply_spec
from forethought.prompts.replies import RoundReflection
from forethought.tools.files import FileStore
from forethought.training.from_synthesis import record_of, reflection_records
from forethought.trajectories.show import world_text
from forethought.trajectories.tasks import Attempted, CollectTask, RunError
from forethought.trajectories.types import Loaded, Reference, Trajectory

TRIES = 4
"""SAMULE, appendix A: at most four trials."""
_BY_BENCHMARK = "benchmark:score"
"""The checker of a training task, since only the benchmark can judge it."""


class Samule(Reflexion):
    """Retries with learned reflections."""

    name = "samule"
    about = "SAMULE: retries with a reflector that learned from training failures (Ge et al. 2025)"
    needs_training = True
    most_tries = TRIES

    async def train(self, trials: Sequence[TrialContext]) -> Mapping[str, Any]:
        """Reflections at all levels. Raises ModelError, and InfrastructureError when no sample could be
        tried."""
        first = trials[0]
        attempts = _Attempts({trial.sample.id: trial for trial in trials}, asyncio.Semaphore(PARALLEL))
        graph = build_synthesizer(first.settings, InMemorySaver(), unlimited(first), attempts)
        config: RunnableConfig = {"configurable": {"thread_id": self.name}}
        context = synthesis(first, trials=self.tries(first))
        payload: Any = {"tasks_file": [_task(trial).model_dump(mode="json") for trial in trials]}
        await graph.ainvoke(payload, config, context=context)
        values = dict((await graph.aget_state(config)).values)
        tried, problems = values.get("trials", {}), list(values.get("problems", {}).values())
        if not tried:
            raise InfrastructureError(
                next(iter(problems), "no training sample could be tried; the results say why")
            )
        records = await asyncio.to_thread(reflection_records, values, FileStore.of(first.settings))
        return {
            "errors": learned_errors(values),
            "taxonomy": [{key: error[key] for key in ("name", "definition")} for error in values["taxonomy"]],
            "records": [record.model_dump(mode="json") for record in records],
            "trials": len(tried),
            "solved": sum(item["outcome"] == "success" for item in tried.values()),
            "problems": [*problems, *values.get("notes", [])],
        }

    async def carry_out(self, trial: TrialContext) -> tuple[State, Bench]:
        """See Baseline. Raises ConfigurationError for a retrospective model that cannot be asked."""
        if name := trial.context.get("retrospective_model"):
            await asyncio.to_thread(trial.models.verify, [name])
        return await super().carry_out(trial)

    async def reflect(self, state: State, *, bench: Bench) -> dict[str, Any]:
        """A reflection on the failed try, without its reference: by the trained model, else prompted."""
        learned = bench.trial.learned
        if name := bench.trial.context.get("retrospective_model"):
            failed = trajectory(state, bench, state["tried"][-1]["number"])
            return await _ask_retrospective(name, failed, state, bench)
        # One record a task: the tries of one task teach much the same.
        others = {item["task_id"]: item for item in learned.get("records", [])}
        examples = [item["reflection"] for item in similar(bench.trial.sample.task, list(others.values()))]
        errors = list(learned.get("errors", []))[:MOST_TYPES]
        return await reflect(state, bench=bench, errors=errors, examples=examples)


async def _ask_retrospective(name: str, failed: Trajectory, state: State, bench: Bench) -> dict[str, Any]:
    """The trained model's reflection, asked for as its training rows do."""
    row = record_of(
        failed, task_id=bench.trial.sample.id, background=world_text(failed), reflection="(asked for)"
    )
    system, user = row.prompt()
    try:
        result = await bench.services.models.ask(
            role="retrospective",
            model=name,
            messages=[Message("system", system), Message("user", user)],
            reply=reply_spec(RoundReflection),
        )
    except (BudgetSpent, ReplyError):
        return {}
    return remembered(state, result.reply.reflection)


@dataclass
class GuidedTry(React):
    """One try in view of a reflection on the one before."""

    guidance: Sequence[str]

    def notes(self, trial: TrialContext) -> dict[str, Any]:
        """See Baseline."""
        return {"reflections": list(self.guidance)}


@dataclass
class _Attempts:
    """Makes the synthesizer's trials of training samples, each with the whole budget of one."""

    contexts: Mapping[str, TrialContext]
    places: asyncio.Semaphore

    async def __call__(self, task: CollectTask, number: int, guidance: Sequence[str]) -> Attempted:
        """See `trajectories.tasks.Attempt`."""
        context = self.contexts[task.id]
        if context.outcome is None:
            raise RunError(
                f"sample {task.id}: the benchmark cannot say whether a trial succeeded; use another "
                "split for training"
            )
        trial = replace(
            context,
            thread=f"{context.thread}.{number}",
            models=Models(context.settings, unlimited(context)),
        )
        trial.tools.renew()
        try:
            async with self.places:
                state, bench = await GuidedTry(guidance).carry_out(trial)
                attempt = attempt_of(state, bench, state["chosen"])
                solved = await context.outcome(attempt)
        except InfrastructureError as error:
            raise RunError(f"{task.id}: {error}") from error
        reference = Reference(outcome="success" if solved else "failure")
        loaded = Loaded(trajectory=attempt.trajectory, reference=reference)
        return Attempted(loaded, background=world_text(attempt.trajectory), usage=attempt.usage)


def _task(trial: TrialContext) -> CollectTask:
    sample = trial.sample
    reference = "\n\n".join(trial.references)
    return CollectTask(id=sample.id, task=sample.task, checker=_BY_BENCHMARK, reference=reference)
