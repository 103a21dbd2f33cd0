"""Which errors of a failed try are gone after a reflection and a retry (SAMULE 4.7, table 5).

Every reflector is asked about the same failed try: Reflexion's prompt, SAMULE's prompt, and the trained model
where `--set retrospective_model` names one. Each reflection is followed by one retry. The evaluated model
labels the errors of each step against the taxonomy from training, before and after. The score is that of the
last retry. Each try has a sample's whole budget: this measures reflections, not methods.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from forethought.evals.baselines.base import attempt_of
from forethought.evals.baselines.bench import Bench
from forethought.evals.baselines.learning import synthesis, unlimited
from forethought.evals.baselines.reflexion import reflect
from forethought.evals.baselines.samule import GuidedTry, Samule
from forethought.evals.baselines.state import State
from forethought.evals.types import Attempt, InfrastructureError, TrialContext
from forethought.models.ask import Models
from forethought.models.types import reply_spec
from forethought.nodes.distiller.checks import slug
from forethought.nodes.synthesizer.meso import labels_problem
from forethought.nodes.synthesizer.messages import label_messages
from forethought.prompts.synthesize_replies import StepLabels
from forethought.state.synthesizer import ErrorType, TaskRecord, TrialRecord
from forethought.trajectories.show import world_text
from forethought.trajectories.types import Trajectory

PROMPTED, TRAINED, REFLEXION = "samule", "trained", "reflexion"
"""The reflectors."""


class ErrorReduction(Samule):
    """One failed try, and a retry after the reflection of each reflector."""

    name = "error-reduction"
    about = "error reduction by SAMULE's, a trained model's and Reflexion's reflections (SAMULE 4.7)"

    async def run(self, trial: TrialContext) -> Attempt:
        """See Method. Raises InfrastructureError where training showed no type of error."""
        started = time.monotonic()
        taxonomy = [
            ErrorType(name=item["name"], definition=item["definition"], task="")
            for item in trial.learned.get("taxonomy", [])
        ]
        if not taxonomy:
            raise InfrastructureError("training found no error type; train on more samples (--train)")
        assert trial.outcome is not None
        whole = replace(trial, models=Models(trial.settings, unlimited(trial)))
        state, bench, attempt, solved = await _one_try(whole, 0, ())
        retries: list[dict[str, Any]] = []
        if not solved:
            before = await _errors(attempt.trajectory, taxonomy, bench, solved=False)
            for number, (reflector, notes) in enumerate((await self._reflections(state, bench)).items(), 1):
                _, bench, attempt, solved = await _one_try(whole, number, notes)
                retries.append(
                    {
                        "reflector": reflector,
                        "task_id": trial.sample.id,
                        "trajectory_id": trial.thread,
                        "task": trial.sample.task,
                        "before": before,
                        "after": await _errors(attempt.trajectory, taxonomy, bench, solved=solved),
                        "solved": solved,
                    }
                )
        return replace(attempt, retries=retries, tries=1 + len(retries), seconds=time.monotonic() - started)

    async def _reflections(self, state: State, bench: Bench) -> Mapping[str, Sequence[str]]:
        """By reflector, what the retry is shown: nothing where it gave no usable reply."""
        context = {key: value for key, value in bench.trial.context.items() if key != "retrospective_model"}
        prompted = replace(bench, trial=replace(bench.trial, context=context))
        updates = {
            REFLEXION: await reflect(state, bench=bench),
            PROMPTED: await self.reflect(state, bench=prompted),
        }
        if "retrospective_model" in bench.trial.context:
            updates[TRAINED] = await self.reflect(state, bench=bench)
        return {name: update.get("notes", {}).get("reflections", []) for name, update in updates.items()}


async def _one_try(
    trial: TrialContext, number: int, guidance: Sequence[str]
) -> tuple[State, Bench, Attempt, bool]:
    """A try with the whole budget, and the benchmark's verdict on it."""
    assert trial.outcome is not None
    trial.tools.renew()
    one = replace(trial, thread=f"{trial.thread}.{number}" if number else trial.thread)
    state, bench = await GuidedTry(guidance).carry_out(one)
    attempt = attempt_of(state, bench, state["chosen"])
    return state, bench, attempt, await trial.outcome(attempt)


async def _errors(
    trajectory: Trajectory, taxonomy: Sequence[ErrorType], bench: Bench, *, solved: bool
) -> list[str]:
    """The types of error that a try's steps show. Raises ModelError."""
    trial, context = bench.trial, synthesis(bench.trial)
    task = TaskRecord(task=trajectory.task, task_id=trial.sample.id)
    numbers = [step.number for step in trajectory.steps]
    record = TrialRecord(
        task="t1",
        number=1,
        id=trajectory.id,
        outcome="success" if solved else "failure",
        reason="",
        background=world_text(trajectory),
        stored="",
        steps=numbers,
    )
    names, found = [error["name"] for error in taxonomy], set[str]()
    for at in range(0, len(numbers), context.steps_per_call):
        steps = numbers[at : at + context.steps_per_call]
        result = await trial.models.ask(
            role="labels",
            model=trial.model,
            messages=label_messages(task, (record, trajectory), steps, taxonomy, "", [], context),
            reply=reply_spec(StepLabels),
            check=partial(labels_problem, steps=steps, names=names),
        )
        found |= {slug(item.error_type) for label in result.reply.steps for item in label.errors}
    return sorted(found)
