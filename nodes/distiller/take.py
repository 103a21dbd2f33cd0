"""take: which tasks have runs with both outcomes, and are no task of an evaluation (PreFlect 3.2.1, B.1)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from forethought.nodes.distiller.runs import DistillServices, compared_runs, run_record
from forethought.nodes.support.offline import runs_by_task
from forethought.state.distiller import DistillerContext, DistillerState, MixedTask
from forethought.state.offline import empty_channels
from forethought.trajectories.questions import Questions
from forethought.trajectories.types import Loaded


async def take(
    state: DistillerState, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """Sort the trajectories by task and keep the tasks of mixed outcome; without any, go on with what the
    thread holds. Raises ValueError for what is no trajectory."""
    context = services.context(runtime)
    await asyncio.to_thread(services.models.verify, [context.model])
    trajectories = state.get("trajectories") or []
    if not trajectories and state.get("tasks"):
        return {"status": "running", "problem": "", "wave": []}
    groups = runs_by_task(trajectories)
    questions = Questions(state.get("exclude") or [])
    refused = [runs for runs in groups.values() if questions.hold(runs[0].trajectory.task)]
    judged = [runs for runs in groups.values() if runs not in refused]
    tasks: dict[str, MixedTask] = {}
    for runs in judged:
        if _outcomes(runs) == {"success", "failure"}:
            files = state.get("files") or {}
            records = [
                run_record(label, run, files.get(run.trajectory.id, ""), await services.save(run.trajectory))
                for label, run in compared_runs(runs, context.max_runs).items()
            ]
            tasks[f"t{len(tasks) + 1}"] = MixedTask(task=runs[0].trajectory.task, runs=records)
    outcomes = [_outcomes(runs) for runs in judged]
    seen = {
        "trajectories": sum(map(len, groups.values())),
        "tasks": len(groups),
        "mixed": len(tasks),
        "only_success": outcomes.count({"success"}),
        "only_failure": outcomes.count({"failure"}),
        "unjudged": outcomes.count(set()),
        "excluded": len(refused),
    }
    counts = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in seen.items())
    return {
        **empty_channels(DistillerState),
        "tasks": tasks,
        "seen": seen,
        "excluded": [runs[0].trajectory.task for runs in refused],
        "models": {"model": context.model},
        "status": "running" if tasks else "no_mixed",
        "problem": "" if tasks else f"no task has both successful and failed runs ({counts}): collect more",
    }


def _outcomes(runs: Sequence[Loaded]) -> set[str]:
    """The known outcomes of a task's runs."""
    return {outcome for run in runs if (outcome := run.reference.outcome) != "unknown"}
