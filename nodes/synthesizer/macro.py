"""Macro level and the merge (SAMULE 3.2.1, inter-task learning).

One reflection an error type comes from trajectories of different tasks that show it. Then each failed trial
gets one final reflection, from what all levels have said of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime

from forethought.nodes.support.offline import next_wave, open_jobs, problem_key
from forethought.nodes.synthesizer.leaks import References
from forethought.nodes.synthesizer.meso import error_path
from forethought.nodes.synthesizer.messages import error_messages, merge_messages
from forethought.nodes.synthesizer.take import SynthesizeServices
from forethought.prompts.synthesize_replies import MergedReflection, TypeReflection
from forethought.state.offline import Job
from forethought.state.synthesizer import ErrorReflection, SynthesizerContext, SynthesizerState, TrialRecord
from forethought.trajectories.show import whole_text

LEAST_TASKS = 2
"""Minimum tasks of an error type for a reflection across tasks."""


async def macro_wave(
    state: SynthesizerState, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """Which error types are reflected upon next, without a model call. One that a single task shows has no
    reflection, and that is said."""
    names = [error["name"] for error in state.get("taxonomy", [])]
    jobs, narrow = [], {}
    for job in open_jobs(state, "reflect_error", names, "error_reflections"):
        tasks = len({state["trials"][key]["task"] for key in cluster(state, job["key"])})
        if tasks >= LEAST_TASKS:
            jobs.append(job)
        else:
            seen = f"{tasks} of {len(state['tasks'])} tasks show it"
            narrow[problem_key(job)] = f"{seen}; a reflection across tasks needs {LEAST_TASKS} tasks"
    wave = next_wave(
        state, services.context(runtime), jobs, f"{len(jobs)} error types have no reflection yet"
    )
    return {**wave, "problems": narrow}


async def reflect_error(
    job: Job, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """The reflection on one error type; where no usable one came, why. Raises the other ModelErrors."""
    context, name = services.context(runtime), job["key"]
    state: SynthesizerState = services.read("tasks", "trials", "pool", "taxonomy", "labels", "references")
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
        job,
        "error_reflection",
        error_messages(error, cases, context),
        TypeReflection,
        lambda reply: type_problem(reply, by_id, secrets),
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
        return f"cites: there is no trajectory {', '.join(unknown)}; choose from {', '.join(trials)}"
    tasks = {trials[cite]["task"] for cite in cites}
    if len(tasks) < LEAST_TASKS:
        return f"cites: all are of one task; cite trajectories of {LEAST_TASKS} tasks or more"
    return next((problem for secret in secrets if (problem := secret.problem(reply.reflection))), None)


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


async def merge_wave(
    state: SynthesizerState, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """Which trials' reflections are merged next, without a model call; with none left, the end."""
    failed = [key for key in state["pool"] if state["trials"][key]["outcome"] == "failure"]
    reflected = [key for key in failed if key in state.get("reflections", {}) or error_path(state, key)]
    jobs = open_jobs(state, "merge_reflections", reflected, "merged")
    if jobs:
        return next_wave(
            state, services.context(runtime), jobs, f"{len(jobs)} trials have no final reflection yet"
        )
    if state.get("merged"):
        return {"wave": [], "status": "synthesized", "problem": ""}
    reason = f"{len(failed)} trials failed, but none has a usable reflection; `problems` says why"
    return {"wave": [], "status": "no_reflections", "problem": reason}


async def merge_reflections(
    job: Job, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """The final reflection on one failed trial; where no usable one came, why. Raises the other
    ModelErrors."""
    key = job["key"]
    state: SynthesizerState = services.read(
        "tasks", "trials", "reflections", "labels", "error_reflections", "references"
    )
    trial, path = state["trials"][key], error_path(state, key)
    task = state["tasks"][trial["task"]]
    types = {finding["error_type"] for findings in path.values() for finding in findings}
    macros = {name: item for name, item in state.get("error_reflections", {}).items() if name in types}
    text = whole_text(await services.load(trial["stored"]))
    secret = References(tuple(state["references"].get(trial["task"], [])), task["task"], text)
    others = [item["id"] for name, item in state["trials"].items() if name != key]
    reply, update = await services.ask(
        runtime,
        job,
        "merged_reflection",
        merge_messages(task, state.get("reflections", {}).get(key, ""), path, macros),
        MergedReflection,
        lambda reply: secret.problem(reply.reflection) or _foreign(reply.reflection, others),
    )
    return update if reply is None else {**update, "merged": {key: reply.reflection.strip()}}


def _foreign(reflection: str, others: Sequence[str]) -> str | None:
    """Whether it names a trajectory that its reader will not see. Ids of letters alone may be words."""
    named = next((id for id in others if not id.isalpha() and len(id) > 3 and id in reflection), None)
    return (
        (f"it names the trajectory {named}, which its reader will not see: leave the name out")
        if named
        else None
    )
