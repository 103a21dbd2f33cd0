"""Micro level: up to K trials a task, each failed one reflected upon against the reference, the reflection
given to the next (SAMULE 3.2.1, single trajectory learning; after Reflexion)."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from forethought.models.types import ReplyError
from forethought.nodes.support.offline import jobs_for, next_wave
from forethought.nodes.support.state_reader import read_state
from forethought.nodes.synthesizer.leaks import References
from forethought.nodes.synthesizer.messages import reflect_messages
from forethought.nodes.synthesizer.take import SynthesizeServices, no_failures_line, trial_record
from forethought.prompts.synthesize_replies import TrialReflection
from forethought.state.offline import Job
from forethought.state.reducers import CLEAR
from forethought.state.synthesizer import SynthesizerContext, SynthesizerState
from forethought.trajectories.show import whole_text
from forethought.trajectories.tasks import CollectTask, RunError

_MICRO = ("attempt_trial ", "reflect_trial ")


async def trial_wave(
    state: SynthesizerState, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """Which trials are made or reflected upon next, without a model call. With none left, what is learned
    from is fixed; where it has changed since, the levels above begin anew."""
    context = services.context(runtime)
    jobs = [
        *jobs_for("reflect_trial", _unreflected(state)),
        *jobs_for("attempt_trial", _next_trials(state, context.trials)),
    ]
    if jobs:
        return next_wave(state, context, jobs, f"{len(jobs)} trials or reflections on them are left")
    trials = state.get("trials", {})
    order = {task: at for at, task in enumerate(state["tasks"])}
    judged = [key for key, trial in trials.items() if trial["outcome"] != "unknown"]
    pool = sorted(judged, key=lambda key: (order[trials[key]["task"]], trials[key]["number"]))
    update: dict[str, Any] = {"wave": [], "pool": pool}
    if state.get("pool") and state["pool"] != pool:
        update |= _above_cleared(state)
    if not any(trial["outcome"] == "failure" for trial in trials.values()):
        update |= {"status": "no_failures", "problem": no_failures_line(trials)}
    return update


async def attempt_trial(
    job: Job,
    runtime: Runtime[SynthesizerContext],
    config: RunnableConfig,
    *,
    services: SynthesizeServices,
) -> dict[str, Any]:
    """One trial, with the reflection on the one before it as guidance; where it came to no end or nobody
    could judge it, why. Raises the ModelErrors of models that cannot be reached."""
    key, problem = job["key"], f"attempt_trial {job['key']}"
    task, _, digits = key.rpartition(".")
    number = int(digits)
    state: SynthesizerState = read_state(config, ("given", "reflections"))
    assert services.attempt is not None
    runtime.stream_writer({"event": "thinking", "role": "trial", "about": key})
    before = state.get("reflections", {}).get(f"{task}.{number - 1}")
    record = CollectTask.model_validate(state["given"][task])
    try:
        attempted = await services.attempt(record, number, [before] if before else [])
    except ReplyError as error:
        return {"problems": {problem: error.problem or str(error)}, "usage": {"agent": error.usage}}
    except RunError as error:
        return {"problems": {problem: str(error)}}
    trial = await trial_record(task, number, attempted, services)
    unknown = trial["outcome"] == "unknown"
    problems = {problem: f"nobody could judge it: {attempted.reason}"} if unknown else {}
    return {"trials": {key: trial}, "problems": problems, "usage": {"agent": attempted.usage}}


async def reflect_trial(
    job: Job,
    runtime: Runtime[SynthesizerContext],
    config: RunnableConfig,
    *,
    services: SynthesizeServices,
) -> dict[str, Any]:
    """The reflection on one failed trial; where no usable one came, why. Raises the other ModelErrors."""
    key = job["key"]
    state: SynthesizerState = read_state(config, ("tasks", "trials", "references"))
    trial = state["trials"][key]
    task, references = state["tasks"][trial["task"]], state["references"].get(trial["task"], [])
    trajectory = await services.load(trial["stored"])
    secret = References(tuple(references), task["task"], whole_text(trajectory))
    reply, update = await services.ask(
        runtime,
        role="trial_reflection",
        about=key,
        problem_key=f"reflect_trial {key}",
        messages=reflect_messages(task, (trial, trajectory), references, services.context(runtime)),
        reply=TrialReflection,
        check=lambda reply: secret.problem(reply.reflection),
    )
    return update if reply is None else {**update, "reflections": {key: reply.reflection.strip()}}


def _above_cleared(state: SynthesizerState) -> dict[str, Any]:
    """The meso and macro levels and the merge, emptied."""
    later = [name for name in state.get("problems", {}) if not name.startswith(_MICRO)]
    empty: dict[str, Any] = {name: {CLEAR: None} for name in ("labels", "error_reflections", "merged")}
    return {**empty, "problems": dict.fromkeys(later), "taxonomy": [], "typed": {}, "notes": []}


def _unreflected(state: SynthesizerState) -> list[str]:
    """Failed trials without a reflection."""
    done, problems = state.get("reflections", {}), state.get("problems", {})
    return [
        key
        for key, trial in state.get("trials", {}).items()
        if trial["outcome"] == "failure" and key not in done and f"reflect_trial {key}" not in problems
    ]


def _next_trials(state: SynthesizerState, most: int) -> list[str]:
    """The next trial of each task whose last one failed and is dealt with, or that has none yet."""
    trials, problems, unreflected = state.get("trials", {}), state.get("problems", {}), _unreflected(state)
    found = []
    for task in state.get("given", {}):
        own = [key for key, trial in trials.items() if trial["task"] == task]
        key = f"{task}.{len(own) + 1}"
        settled = all(trials[name]["outcome"] == "failure" and name not in unreflected for name in own)
        if settled and len(own) < most and f"attempt_trial {key}" not in problems:
            found.append(key)
    return found
