"""Meso level: what the trials of one task show about errors (SAMULE 3.2.1, intra-task learning).

First the error taxonomy grows task by task, one call after the other, since each sees what the ones before it
have added. Then each step of each trial is labelled, with a critique: a call labels a stretch of steps, one
step with `steps_per_call=1`, as the paper's prompt does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime
from rapidfuzz import fuzz

from forethought.nodes.distiller.checks import slug
from forethought.nodes.support.offline import next_wave, open_jobs, stopped
from forethought.nodes.synthesizer.messages import label_messages, type_messages
from forethought.nodes.synthesizer.take import SynthesizeServices
from forethought.prompts.synthesize_replies import StepLabels, TaxonomyGrowth
from forethought.state.offline import Job
from forethought.state.synthesizer import ErrorType, Finding, Labelled, SynthesizerContext, SynthesizerState

ALIKE = 85.0
"""Similarity (0 to 100) from which two names or two definitions count as the same."""
_EMPTY = frozenset(
    ("error", "errors", "mistake", "mistakes", "failure", "issue", "problem", "of", "in", "the")
)


async def error_types(
    state: SynthesizerState, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """What the trials of the next task add to the taxonomy; where no valid reply came, why. Raises the other
    ModelErrors."""
    context, jobs = services.context(runtime), open_tasks(state)
    if not jobs:
        return {}
    if stop := stopped(state, context, f"{len(jobs)} tasks have no error types yet"):
        return stop
    job, key, taxonomy = jobs[0], jobs[0]["key"], state.get("taxonomy", [])
    chosen = [state["trials"][trial] for trial in state["pool"] if state["trials"][trial]["task"] == key]
    trials = [(trial, await services.load(trial["stored"])) for trial in chosen]
    references = state["references"].get(key, []) if context.meso_reference else []
    reply, update = await services.ask(
        runtime,
        job,
        "error_types",
        type_messages(state["tasks"][key], trials, taxonomy, references, context),
        TaxonomyGrowth,
        lambda reply: growth_problem(reply, taxonomy),
    )
    if reply is None:
        return update
    new = [
        ErrorType(name=slug(item.name), definition=item.definition.strip(), task=key)
        for item in reply.new_types
    ]
    typed = {**state.get("typed", {}), key: reply.rationale.strip()}
    return {**update, "taxonomy": [*taxonomy, *new], "typed": typed}


def failed_tasks(state: SynthesizerState) -> list[str]:
    """Tasks of which a trial failed, in their order."""
    failed = {trial["task"] for trial in state["trials"].values() if trial["outcome"] == "failure"}
    return [key for key in state["tasks"] if key in failed]


def open_tasks(state: SynthesizerState) -> list[Job]:
    """Tasks with a failed trial that are not searched for error types yet."""
    return open_jobs(state, "error_types", failed_tasks(state), "typed")


def growth_problem(reply: TaxonomyGrowth, taxonomy: Sequence[ErrorType]) -> str | None:
    """Why the taxonomy cannot grow so, all reasons in one line."""
    problems = []
    known = [(error["name"], error["definition"]) for error in taxonomy]
    for number, new in enumerate(reply.new_types, 1):
        name = slug(new.name)
        if not _telling(name) or len(name) > 80:
            problems.append(
                f"new_types[{number}]: {new.name!r} is not a valid name: write two to five words in "
                "snake_case"
            )
        elif twin := next((old for old, text in known if _alike(name, new.definition, old, text)), None):
            problems.append(
                f"new_types[{number}]: {name} is a near-duplicate of {twin}: use {twin} instead and leave "
                "it out, or make its name and definition clearly different"
            )
        known.append((name, new.definition))
    return "; ".join(problems[:6]) or None


def _alike(name: str, definition: str, other: str, text: str) -> bool:
    return (
        fuzz.token_sort_ratio(_telling(name), _telling(other)) >= ALIKE
        or fuzz.token_sort_ratio(definition.casefold(), text.casefold()) >= ALIKE
    )


def _telling(name: str) -> str:
    """The words of a name that tell it from others."""
    return " ".join(word for word in name.split("_") if word and word not in _EMPTY)


READS = ("tasks", "trials", "taxonomy", "typed")


async def label_wave(
    state: SynthesizerState, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """Which steps are labelled next, without a model call; none without a taxonomy."""
    context = services.context(runtime)
    if not state.get("taxonomy"):
        return {
            "wave": [],
            "notes": [*state.get("notes", []), "no error type was found, so no step can be labelled"],
        }
    jobs = open_jobs(state, "label_steps", stretches(state, context.steps_per_call), "labels")
    return next_wave(state, context, jobs, f"{len(jobs)} groups of steps have no labels yet")


async def label_steps(
    job: Job, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """The labels of a stretch; where no valid reply came, why. Raises the other ModelErrors."""
    context, key = services.context(runtime), job["key"]
    # The references are not even read, but for the ablation.
    channels = (*READS, "references") if context.meso_reference else READS
    state: SynthesizerState = services.read(*channels)
    trial_key, steps = stretch(state, key)
    trial, taxonomy = state["trials"][trial_key], state["taxonomy"]
    task = trial["task"]
    names = [error["name"] for error in taxonomy]
    reply, update = await services.ask(
        runtime,
        job,
        "step_labels",
        label_messages(
            state["tasks"][task],
            (trial, await services.load(trial["stored"])),
            steps,
            taxonomy,
            state.get("typed", {}).get(task, ""),
            state.get("references", {}).get(task, []),
            context,
        ),
        StepLabels,
        lambda reply: labels_problem(reply, steps, names),
    )
    if reply is None:
        return update
    return {**update, "labels": {key: Labelled(trial=trial_key, steps=_findings(reply))}}


def stretches(state: SynthesizerState, size: int) -> list[str]:
    """Keys of the stretches of `size` steps of the trials of tasks that failed."""
    keys, tasks = [], failed_tasks(state)
    for trial in state["pool"]:
        record = state["trials"][trial]
        steps = record["steps"] if record["task"] in tasks else []
        parts = [steps[at : at + size] for at in range(0, len(steps), size)]
        keys += [f"{trial}:{part[0]}-{part[-1]}" for part in parts]
    return keys


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
        problems.append(f"step {', '.join(map(str, twice))} is labelled twice: label each step once")
    if others := [step for step in labelled if step not in steps]:
        problems.append(f"step {', '.join(map(str, others))} is not among the steps to label: leave it out")
    unknown = {item.error_type for label in reply.steps for item in label.errors} - set(names)
    unknown = {name for name in unknown if slug(name) not in names}
    if unknown:
        problems.append(f"{', '.join(sorted(unknown))}: not in the taxonomy; choose from {', '.join(names)}")
    return "; ".join(problems) or None
