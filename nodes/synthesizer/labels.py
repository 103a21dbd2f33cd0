"""Meso level, second half: each step of each trial is labelled, with a critique (SAMULE 3.2.1).

A call labels a stretch of steps (one step with `steps_per_call=1`, as the paper's prompt does). Where no
valid reply comes for a stretch, its steps are asked for one by one, so that a step that cannot be labelled
costs no other step its label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from forethought.nodes.distiller.checks import slug
from forethought.nodes.support.offline import jobs_for, next_wave
from forethought.nodes.support.state_reader import read_state
from forethought.nodes.synthesizer.error_types import failed_tasks
from forethought.nodes.synthesizer.messages import label_messages
from forethought.nodes.synthesizer.take import SynthesizeServices
from forethought.prompts.synthesize_replies import StepLabels
from forethought.state.offline import Job
from forethought.state.synthesizer import Finding, Labelled, SynthesizerContext, SynthesizerState

READS = ("tasks", "trials", "taxonomy", "typed")


async def label_wave(
    state: SynthesizerState, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """Which steps are labelled next, without a model call; none without a taxonomy."""
    context = services.context(runtime)
    if not state.get("taxonomy"):
        return {
            "wave": [],
            "notes": [*state.get("notes", []), "no error type was found: no step is labelled"],
        }
    left = open_stretches(state, context.steps_per_call)
    unfinished = f"{len(left)} stretches of steps are not labelled"
    return next_wave(state, context, jobs_for("label_steps", left), unfinished)


async def label_steps(
    job: Job,
    runtime: Runtime[SynthesizerContext],
    config: RunnableConfig,
    *,
    services: SynthesizeServices,
) -> dict[str, Any]:
    """The labels of a stretch; where no valid reply came, why. Raises the other ModelErrors."""
    context, key = services.context(runtime), job["key"]
    # The references are not even read, but for the ablation.
    channels = (*READS, "references") if context.meso_reference else READS
    state: SynthesizerState = read_state(config, channels)
    trial_key, steps = stretch(state, key)
    trial, taxonomy = state["trials"][trial_key], state["taxonomy"]
    task = trial["task"]
    names = [error["name"] for error in taxonomy]
    reply, update = await services.ask(
        runtime,
        role="step_labels",
        about=key,
        problem_key=f"label_steps {key}",
        messages=label_messages(
            state["tasks"][task],
            (trial, await services.load(trial["stored"])),
            steps,
            taxonomy,
            state.get("typed", {}).get(task, ""),
            state.get("references", {}).get(task, []),
            context,
        ),
        reply=StepLabels,
        check=lambda reply: labels_problem(reply, steps, names),
    )
    if reply is None:
        return update
    return {**update, "labels": {key: Labelled(trial=trial_key, steps=_findings(reply))}}


def open_stretches(state: SynthesizerState, size: int) -> list[str]:
    """Keys of the stretches that are not labelled yet: of `size` steps, or of one step of those that failed
    as a whole."""
    done, problems = state.get("labels", {}), state.get("problems", {})
    labelled = {(item["trial"], int(step)) for item in done.values() for step in item["steps"]}
    wanted, tasks, found = "label_steps ", set(failed_tasks(state)), []
    for trial in state["pool"]:
        record = state["trials"][trial]
        steps = record["steps"] if record["task"] in tasks else []
        for at in range(0, len(steps), size):
            part = [step for step in steps[at : at + size] if (trial, step) not in labelled]
            if not part:
                continue
            whole = f"{trial}:{steps[at]}-{steps[min(at + size, len(steps)) - 1]}"
            keys = [f"{trial}:{step}-{step}" for step in part] if wanted + whole in problems else [whole]
            found += [key for key in keys if wanted + key not in problems]
    return found


def stretch(state: SynthesizerState, key: str) -> tuple[str, list[int]]:
    """The trial's key and the numbers of the steps that a stretch's key means."""
    trial, _, ends = key.rpartition(":")
    first, last = map(int, ends.split("-"))
    return trial, [step for step in state["trials"][trial]["steps"] if first <= step <= last]


def error_path(state: SynthesizerState, trial: str) -> dict[int, list[Finding]]:
    """The steps of a trial that show errors, in their order, each with its types and critiques."""
    path = {
        int(step): findings
        for item in state.get("labels", {}).values()
        if item["trial"] == trial
        for step, findings in item["steps"].items()
        if findings
    }
    return dict(sorted(path.items()))


def _findings(reply: StepLabels) -> dict[str, list[Finding]]:
    return {
        str(label.step): [
            Finding(error_type=slug(item.error_type), critique=item.critique.strip()) for item in label.errors
        ]
        for label in reply.steps
    }


def labels_problem(reply: StepLabels, steps: Sequence[int], names: Sequence[str]) -> str | None:
    """Why the labels cannot be used, all reasons in one line."""
    problems = []
    labelled = [label.step for label in reply.steps]
    if missing := [step for step in steps if step not in labelled]:
        problems.append(f"label step {', '.join(map(str, missing))} too")
    if twice := sorted({step for step in labelled if labelled.count(step) > 1}):
        problems.append(f"step {', '.join(map(str, twice))} is labelled twice")
    if others := [step for step in labelled if step not in steps]:
        problems.append(f"step {', '.join(map(str, others))} is not asked for")
    unknown = {item.error_type for label in reply.steps for item in label.errors} - set(names)
    unknown = {name for name in unknown if slug(name) not in names}
    if unknown:
        problems.append(f"{', '.join(sorted(unknown))}: not in the taxonomy, which has {', '.join(names)}")
    return "; ".join(problems) or None
