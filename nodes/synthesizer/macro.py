"""Macro level: one reflection an error type, from trajectories of different tasks that show it (SAMULE 3.2.1,
inter-task learning)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from forethought.nodes.support.offline import jobs_for, next_wave
from forethought.nodes.support.state_reader import read_state
from forethought.nodes.synthesizer.labels import error_path
from forethought.nodes.synthesizer.leaks import References
from forethought.nodes.synthesizer.messages import error_messages
from forethought.nodes.synthesizer.take import SynthesizeServices
from forethought.prompts.synthesize_replies import TypeReflection
from forethought.state.offline import Job
from forethought.state.synthesizer import ErrorReflection, SynthesizerContext, SynthesizerState, TrialRecord

READS = ("tasks", "trials", "pool", "taxonomy", "labels", "references")
LEAST_TASKS = 2
"""Tasks that an error type needs for what recurs in it to be more than a task's own."""


async def macro_wave(
    state: SynthesizerState, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """Which error types are reflected upon next, without a model call. One that a single task shows has no
    reflection, and that is said."""
    done = {*state.get("error_reflections", {}), *state.get("problems", {})}
    left, narrow = [], {}
    for name in (error["name"] for error in state.get("taxonomy", [])):
        if {name, f"reflect_error {name}"} & done:
            continue
        tasks = len({state["trials"][key]["task"] for key in cluster(state, name)})
        if tasks >= LEAST_TASKS:
            left.append(name)
        else:
            seen = f"{tasks} of {len(state['tasks'])} tasks showed it"
            narrow[f"reflect_error {name}"] = f"{seen}; a reflection across tasks needs {LEAST_TASKS}"
    unfinished = f"{len(left)} error types have no reflection"
    wave = next_wave(state, services.context(runtime), jobs_for("reflect_error", left), unfinished)
    return {**wave, "problems": narrow, "notes": _notes(state, bool(left))}


async def reflect_error(
    job: Job,
    runtime: Runtime[SynthesizerContext],
    config: RunnableConfig,
    *,
    services: SynthesizeServices,
) -> dict[str, Any]:
    """The reflection on one error type; where no usable one came, why. Raises the other ModelErrors."""
    context, name = services.context(runtime), job["key"]
    state: SynthesizerState = read_state(config, READS)
    error = next(item for item in state["taxonomy"] if item["name"] == name)
    chosen = {key: state["trials"][key] for key in _spread(state, cluster(state, name), context.max_cases)}
    cases = [
        (
            state["tasks"][trial["task"]],
            (trial, await services.load(trial["stored"])),
            _critiques(state, key, name),
        )
        for key, trial in chosen.items()
    ]
    # None of the tasks that it is written from may be given away.
    secrets = [
        References(tuple(state["references"].get(task, [])), state["tasks"][task]["task"])
        for task in dict.fromkeys(trial["task"] for trial in chosen.values())
    ]
    by_id = {trial["id"]: trial for trial in chosen.values()}
    reply, update = await services.ask(
        runtime,
        role="error_reflection",
        about=name,
        problem_key=f"reflect_error {name}",
        messages=error_messages(error, cases, context),
        reply=TypeReflection,
        check=lambda reply: type_problem(reply, by_id, secrets),
    )
    if reply is None:
        return update
    cites = list(dict.fromkeys(cite.strip() for cite in reply.cites))
    reflection = ErrorReflection(reflection=reply.reflection.strip(), cites=cites)
    return {**update, "error_reflections": {name: reflection}}


def cluster(state: SynthesizerState, name: str) -> list[str]:
    """Keys of the trials whose error path has the type, in their order."""
    return [key for key in state["pool"] if _critiques(state, key, name)]


def type_problem(
    reply: TypeReflection, trials: Mapping[str, TrialRecord], secrets: Sequence[References]
) -> str | None:
    """Why a reflection on an error type cannot be used."""
    cites = {cite.strip() for cite in reply.cites}
    if unknown := sorted(cites - set(trials)):
        return f"cites: there is no trajectory {', '.join(unknown)}; the cases are {', '.join(trials)}"
    tasks = {trials[cite]["task"] for cite in cites}
    if len(tasks) < LEAST_TASKS:
        return f"cites: all are of one task; cite trajectories of {LEAST_TASKS} tasks or more"
    return next((found for secret in secrets if (found := secret.problem(reply.reflection))), None)


def _critiques(state: SynthesizerState, trial: str, name: str) -> dict[int, str]:
    """The steps of a trial that show the type, and why."""
    return {
        step: finding["critique"]
        for step, findings in error_path(state, trial).items()
        for finding in findings
        if finding["error_type"] == name
    }


def _spread(state: SynthesizerState, keys: Sequence[str], most: int) -> list[str]:
    """At most `most` of the trials, from as many tasks as can be: one of each task, then the next of each."""
    turns: dict[str, int] = {}
    order = {}
    for key in keys:
        task = state["trials"][key]["task"]
        turns[task] = order[key] = turns.get(task, -1) + 1
    return sorted(keys, key=lambda key: order[key])[:most]


def _notes(state: SynthesizerState, any_left: bool) -> list[str]:
    notes = state.get("notes", [])
    if any_left or state.get("error_reflections") or not state.get("taxonomy"):
        return notes
    note = (
        "there is one task only: no reflections across tasks"
        if len(state["tasks"]) == 1
        else "no error type was reflected upon across tasks: no two tasks show the same one, or no reply held"
    )
    return notes if note in notes else [*notes, note]
