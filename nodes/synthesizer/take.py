"""take: the tasks to try, or the trajectories of trials that others made (SAMULE, Algorithm 1)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any

from langgraph.runtime import Runtime

from forethought.nodes.support.offline import OfflineServices, runs_by_task, tokens_of_runs
from forethought.state.offline import empty_channels
from forethought.state.reducers import CLEAR
from forethought.state.synthesizer import Json, SynthesizerContext, SynthesizerState, TaskRecord, TrialRecord
from forethought.trajectories.show import world_text
from forethought.trajectories.tasks import Attempted, CollectTask
from forethought.trajectories.types import Loaded

SynthesizeServices = OfflineServices[SynthesizerContext]


async def take(
    state: SynthesizerState, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """Take in tasks or trajectories; without any, go on with what the thread holds.

    Raises ValueError for what is no task or trajectory, and for tasks where nobody can try them.
    """
    context = services.context(runtime)
    await asyncio.to_thread(services.models.verify, [context.model])
    given_tasks, given_runs = state.get("tasks_file") or [], state.get("trajectories") or []
    if not (given_tasks or given_runs) and state.get("tasks"):
        # What nobody could judge is asked for again: whoever made those trials judges them anew.
        tried = state.get("trials", {}) if state.get("given") else {}
        unjudged: Json = {key: None for key, trial in tried.items() if trial["outcome"] == "unknown"}
        problems = {f"attempt_trial {key}": None for key in unjudged}
        return {"status": "running", "problem": "", "trials": unjudged, "problems": problems}
    if given_tasks and given_runs:
        raise ValueError("tasks and trajectories exclude each other: give one of them")
    if given_tasks:
        if services.attempt is None:
            raise ValueError(
                "this synthesizer cannot run tasks: give trajectories, or run `forethought synthesize "
                "TASKS.jsonl`"
            )
        update = _of_tasks([CollectTask.model_validate(item) for item in given_tasks])
        text = (
            f"estimate: up to {len(given_tasks) * context.trials} trials, and reflections on those that fail"
        )
        runtime.stream_writer({"event": "note", "text": text})
    else:
        groups = runs_by_task(given_runs)
        services.warn_of_cuts(runtime, [run.trajectory for runs in groups.values() for run in runs])
        services.tell(runtime, _estimate(groups.values(), context))
        update = await _of_trajectories(groups, services)
    models = {"model": context.model}
    return {**empty_channels(SynthesizerState), **update, "models": models, "status": "running"}


def _estimate(tasks: Iterable[Sequence[Loaded]], context: SynthesizerContext) -> list[int]:
    """Tokens of the prompts. Of each task with a failed trial: two reflections a failed trial, the task's
    error types, labels of all its steps by stretches, and one error type that other tasks share."""
    prompts: list[int] = []
    for runs in tasks:
        sizes = [tokens_of_runs([run.trajectory]) for run in runs]
        failed = [size for run, size in zip(runs, sizes, strict=True) if run.reference.outcome == "failure"]
        if failed:
            prompts += [*failed, *failed, *[tokens_of_runs(run.trajectory for run in runs)] * 2]
            for run, size in zip(runs, sizes, strict=True):
                prompts += [size] * ceil(len(run.trajectory.steps) / context.steps_per_call)
    return prompts


def _of_tasks(records: Sequence[CollectTask]) -> dict[str, Any]:
    tasks = {f"t{number}": task for number, task in enumerate(records, 1)}
    return {
        "tasks": {key: TaskRecord(task=task.task, task_id=task.id) for key, task in tasks.items()},
        "given": {key: task.model_dump(mode="json") for key, task in tasks.items()},
        "references": {key: list(task.references) for key, task in tasks.items()},
        "seen": {"tasks": len(tasks), "trajectories": 0, "unjudged": 0},
    }


async def _of_trajectories(
    groups: Mapping[str, Sequence[Loaded]], services: SynthesizeServices
) -> dict[str, Any]:
    tasks: dict[str, TaskRecord] = {}
    references: dict[str, list[str]] = {}
    trials: dict[str, TrialRecord] = {}
    ids: set[str] = set()
    for number, runs in enumerate(groups.values(), 1):
        key = f"t{number}"
        tasks[key] = TaskRecord(task=runs[0].trajectory.task, task_id=key)
        gold = [text for run in runs for text in run.reference.texts]
        references[key] = list(dict.fromkeys(gold))
        for at, run in enumerate(runs, 1):
            attempted = Attempted(run, background=world_text(run.trajectory))
            record = await trial_record(key, at, attempted, services)
            while record["id"] in ids:
                record["id"] = f"{record['id']}~{key}.{at}"
            ids.add(record["id"])
            trials[f"{key}.{at}"] = record
    unjudged = sum(trial["outcome"] == "unknown" for trial in trials.values())
    seen = {"tasks": len(tasks), "trajectories": len(trials), "unjudged": unjudged}
    return {"tasks": tasks, "references": references, "trials": {CLEAR: None, **trials}, "seen": seen}


async def trial_record(
    task: str, number: int, attempted: Attempted, services: SynthesizeServices
) -> TrialRecord:
    """The record of a trial, its trajectory stored. Raises FilesError."""
    trajectory = attempted.loaded.trajectory
    return TrialRecord(
        task=task,
        number=number,
        id=trajectory.id,
        outcome=attempted.loaded.reference.outcome,
        reason=attempted.reason,
        background=attempted.background,
        stored=await services.save(trajectory),
        steps=[step.number for step in trajectory.steps],
    )
