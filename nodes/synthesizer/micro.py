"""Micro level: up to K trials a task, each failed one reflected upon against the reference, the reflection
given to the next (SAMULE 3.2.1, single trajectory learning; after Reflexion)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from forethought.models.types import ReplyError
from forethought.nodes.support.offline import next_wave, open_jobs, problem_key
from forethought.nodes.synthesizer.leaks import References
from forethought.nodes.synthesizer.messages import reflect_messages
from forethought.nodes.synthesizer.take import SynthesizeServices, trial_record
from forethought.prompts.synthesize_replies import TrialReflection
from forethought.state.offline import Job
from forethought.state.reducers import CLEAR
from forethought.state.synthesizer import SynthesizerContext, SynthesizerState
from forethought.trajectories.show import whole_text
from forethought.trajectories.tasks import CollectTask, RunError


async def trial_wave(
    state: SynthesizerState, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """Which trials are made or reflected upon next, without a model call. With none left, what is learned
    from is fixed; where it has changed since, the levels above begin anew."""
    context = services.context(runtime)
    trials = state.get("trials", {})
    failed = [key for key, trial in trials.items() if trial["outcome"] == "failure"]
    reflections = open_jobs(state, "reflect_trial", failed, "reflections")
    next_trials = _next_trials(state, context.trials, [job["key"] for job in reflections])
    if jobs := [*reflections, *open_jobs(state, "attempt_trial", next_trials, "trials")]:
        return next_wave(state, context, jobs, f"{len(jobs)} trials or reflections are left to do")
    order = {task: at for at, task in enumerate(state["tasks"])}
    judged = [key for key, trial in trials.items() if trial["outcome"] != "unknown"]
    pool = sorted(judged, key=lambda key: (order[trials[key]["task"]], trials[key]["number"]))
    update: dict[str, Any] = {"wave": [], "pool": pool}
    if state.get("pool") and state["pool"] != pool:
        above = [name for name in state.get("problems", {}) if "_trial " not in name]
        update |= {"problems": dict.fromkeys(above), "taxonomy": [], "typed": {}, "notes": []}
        update |= {name: {CLEAR: None} for name in ("labels", "error_reflections", "merged")}
    if not failed:
        problem = (
            f"no trial failed: of {len(trials)} trials of {len(state['tasks'])} tasks {len(pool)} succeeded, "
            "the others could not be judged; give harder tasks, or trajectories with their outcomes"
        )
        update |= {"status": "no_failures", "problem": problem}
    return update


async def attempt_trial(
    job: Job, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """One trial, with the reflection on the one before it as guidance; where it came to no end or nobody
    could judge it, why. Raises the ModelErrors of models that cannot be reached."""
    key, problem = job["key"], problem_key(job)
    task, _, digits = key.rpartition(".")
    number = int(digits)
    state: SynthesizerState = services.read("given", "reflections")
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
    problems = {problem: f"it could not be judged: {attempted.reason}"} if unknown else {}
    return {"trials": {key: trial}, "problems": problems, "usage": {"agent": attempted.usage}}


async def reflect_trial(
    job: Job, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """The reflection on one failed trial; where no usable one came, why. Raises the other ModelErrors."""
    key = job["key"]
    state: SynthesizerState = services.read("tasks", "trials", "references", "reflections")
    trial = state["trials"][key]
    task, references = state["tasks"][trial["task"]], state["references"].get(trial["task"], [])
    before = state.get("reflections", {}).get(f"{trial['task']}.{trial['number'] - 1}", "")
    trajectory = await services.load(trial["stored"])
    secret = References(tuple(references), task["task"], whole_text(trajectory))
    reply, update = await services.ask(
        runtime,
        job,
        "trial_reflection",
        reflect_messages(task, (trial, trajectory), references, before, services.context(runtime)),
        TrialReflection,
        lambda reply: secret.problem(reply.reflection),
    )
    return update if reply is None else {**update, "reflections": {key: reply.reflection.strip()}}


def _next_trials(state: SynthesizerState, most: int, waiting: Sequence[str]) -> list[str]:
    """The next trial of each task whose last one failed and is not `waiting` to be reflected on, or that has
    none yet."""
    keys, trials = [], state.get("trials", {})
    for task in state.get("given", {}):
        own = [key for key, trial in trials.items() if trial["task"] == task]
        go_on = all(trials[key]["outcome"] == "failure" and key not in waiting for key in own)
        if go_on and len(own) < most:
            keys.append(f"{task}.{len(own) + 1}")
    return keys
