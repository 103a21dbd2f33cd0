"""Micro level: up to K trials a task, each failed one reflected upon against the reference, the reflection
given to the next (SAMULE 3.2.1, single trajectory learning; after Reflexion)."""

from __future__ import annotations

from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from forethought.collecting.running import RunError
from forethought.collecting.tasks import CollectTask
from forethought.models.types import ReplyError, reply_spec
from forethought.nodes.distiller.runs import said
from forethought.nodes.support.reading import read_state
from forethought.nodes.synthesizer.leaks import References
from forethought.nodes.synthesizer.messages import reflect_messages
from forethought.nodes.synthesizer.services import SynthesizeServices
from forethought.nodes.synthesizer.take import no_failures_line, trial_record
from forethought.prompts.synthesize_replies import TrialReflection
from forethought.state.bounds import exhausted
from forethought.state.reducers import CLEAR
from forethought.state.synthesizer_context import SynthesizerContext
from forethought.state.synthesizer_state import Job, KeyDispatch, SynthesizerState

_MICRO = ("attempt_trial ", "reflect_trial ")


async def trial_wave(
    state: SynthesizerState, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """Which trials are made or reflected upon next, without a model call. With none left, what is learned
    from is fixed; where it has changed since, the levels above begin anew."""
    context = services.context(runtime)
    left = [*_reflections(state), *_attempts(state, context.trials)]
    if left and (why := exhausted(state, context)):
        return {
            "wave": [],
            "status": "stopped",
            "problem": f"{why}, and {len(left)} trials or reflections on them are left; raise it",
        }
    if left:
        return {"wave": left[: context.max_parallel]}
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
    dispatch: KeyDispatch,
    runtime: Runtime[SynthesizerContext],
    config: RunnableConfig,
    *,
    services: SynthesizeServices,
) -> dict[str, Any]:
    """One trial, with the reflection on the one before it as guidance; where it came to no end or nobody
    could judge it, why. Raises the ModelErrors of models that cannot be reached."""
    key = dispatch["key"]
    task, number = key.rsplit(".", 1)
    state = cast(SynthesizerState, read_state(config, ("given", "reflections")))
    assert services.attempt is not None
    runtime.stream_writer({"event": "thinking", "role": "trial", "about": key})
    before = state.get("reflections", {}).get(f"{task}.{int(number) - 1}")
    record = CollectTask.model_validate(state["given"][task])
    problem = f"attempt_trial {key}"
    try:
        made = await services.attempt(record, int(number), [before] if before else [])
    except ReplyError as error:
        return {"problems": {problem: error.problem or str(error)}, "usage": {"agent": error.usage}}
    except RunError as error:
        return {"problems": {problem: str(error)}}
    trial = await trial_record(task, int(number), made.loaded, services, made.reason, made.background)
    unknown = {problem: f"nobody could judge it: {made.reason}"} if trial["outcome"] == "unknown" else {}
    return {"trials": {key: trial}, "problems": unknown, "usage": {"agent": made.usage}}


async def reflect_trial(
    dispatch: KeyDispatch,
    runtime: Runtime[SynthesizerContext],
    config: RunnableConfig,
    *,
    services: SynthesizeServices,
) -> dict[str, Any]:
    """The reflection on one failed trial; where no usable one came, why. Raises the other ModelErrors."""
    context, key = services.context(runtime), dispatch["key"]
    state = cast(SynthesizerState, read_state(config, ("tasks", "trials", "references")))
    trial = state["trials"][key]
    task, references = state["tasks"][trial["task"]], state["references"].get(trial["task"], [])
    trajectory = await services.kept(trial["stored"])
    seen = "\n".join([*map(said, trajectory.steps), trajectory.answer])
    secret = References(tuple(references), task["task"], seen)
    runtime.stream_writer({"event": "thinking", "role": "reflection", "about": key})
    try:
        asked = await services.models.ask(
            role="trial_reflection",
            model=context.model,
            messages=reflect_messages(task, (trial, trajectory), references, context),
            reply=reply_spec(TrialReflection),
            check=lambda reply: secret.problem(reply.reflection),
        )
    except ReplyError as error:
        why = {f"reflect_trial {key}": error.problem or str(error)}
        return {"problems": why, "usage": {"trial_reflection": error.usage}}
    return {
        "reflections": {key: asked.reply.reflection.strip()},
        "usage": {"trial_reflection": asked.usage},
    }


def _above_cleared(state: SynthesizerState) -> dict[str, Any]:
    """The meso and macro levels and the merge, emptied."""
    later = [name for name in state.get("problems", {}) if not name.startswith(_MICRO)]
    empty: dict[str, Any] = {name: {CLEAR: None} for name in ("labels", "error_reflections", "merged")}
    return {**empty, "problems": dict.fromkeys(later), "taxonomy": [], "typed": {}, "notes": []}


def _reflections(state: SynthesizerState) -> list[Job]:
    """Failed trials without a reflection."""
    done, problems = state.get("reflections", {}), state.get("problems", {})
    return [
        Job(node="reflect_trial", key=key)
        for key, trial in state.get("trials", {}).items()
        if trial["outcome"] == "failure" and key not in done and f"reflect_trial {key}" not in problems
    ]


def _attempts(state: SynthesizerState, most: int) -> list[Job]:
    """The next trial of each task whose last one failed and is dealt with, or that has none yet."""
    jobs = []
    problems, open_keys = state.get("problems", {}), {job["key"] for job in _reflections(state)}
    for task in state.get("given", {}):
        made = [key for key, trial in state.get("trials", {}).items() if trial["task"] == task]
        key = f"{task}.{len(made) + 1}"
        goes_on = all(state["trials"][name]["outcome"] == "failure" for name in made)
        if (
            goes_on
            and len(made) < most
            and not open_keys & {*made}
            and f"attempt_trial {key}" not in problems
        ):
            jobs.append(Job(node="attempt_trial", key=key))
    return jobs
