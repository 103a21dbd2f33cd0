"""take: which tasks have runs with both outcomes, and are no task of an evaluation (PreFlect 3.2.1, B.1).

Their runs are stored by hash and labelled, F1, F2, ... the failed ones and S1, S2, ... the successful ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from langgraph.runtime import Runtime

from forethought.models import Models
from forethought.nodes.support.offline import OfflineServices, estimate_text, runs_by_task, tokens_of_runs
from forethought.state.distiller import DistillerContext, DistillerState, MixedTask, Run
from forethought.state.offline import empty_channels
from forethought.trajectories.questions import Questions
from forethought.trajectories.show import LabelledRun
from forethought.trajectories.types import Loaded, Trajectory

DistillServices = OfflineServices[DistillerContext]


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
    judged, refused, mixed = _sorted(trajectories, state.get("exclude") or [])
    tasks: dict[str, MixedTask] = {}
    services.warn_of_cuts(runtime, [run.trajectory for runs in mixed for run in runs])
    services.tell(runtime, _prompts(mixed, context))
    for runs in mixed:
        files = state.get("files") or {}
        records = [
            run_record(label, run, files.get(run.trajectory.id, ""), await services.save(run.trajectory))
            for label, run in compared_runs(runs, context.max_runs).items()
        ]
        tasks[f"t{len(tasks) + 1}"] = MixedTask(task=runs[0].trajectory.task, runs=records)
    outcomes = [_outcomes(runs) for runs in judged]
    seen = {
        "trajectories": sum(map(len, [*judged, *refused])),
        "tasks": len(judged) + len(refused),
        "mixed": len(tasks),
        "only_success": outcomes.count({"success"}),
        "only_failure": outcomes.count({"failure"}),
        "unjudged": outcomes.count(set()),
        "excluded": len(refused),
    }
    counts = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in seen.items())
    none_mixed = f"no task has both successful and failed runs ({counts}): collect more, or record outcomes"
    return {
        **empty_channels(DistillerState),
        "tasks": tasks,
        "seen": seen,
        "excluded": [runs[0].trajectory.task for runs in refused],
        "models": {"model": context.model},
        "status": "running" if tasks else "no_mixed",
        "problem": "" if tasks else none_mixed,
    }


def estimate(
    trajectories: Sequence[Any], exclude: Sequence[str], context: DistillerContext, models: Models
) -> str:
    """What a person is told before these are distilled; '' of a few calls."""
    _, _, mixed = _sorted(trajectories, exclude)
    return estimate_text(_prompts(mixed, context), models, context.model)


def _sorted(
    trajectories: Sequence[Any], exclude: Sequence[str]
) -> tuple[list[list[Loaded]], list[list[Loaded]], list[list[Loaded]]]:
    """The runs of each task: those that may be used, those of excluded tasks, those of mixed outcome."""
    groups, questions = runs_by_task(trajectories).values(), Questions(exclude)
    refused = [runs for runs in groups if any(questions.hold(run.trajectory.task) for run in runs)]
    judged = [runs for runs in groups if runs not in refused]
    return judged, refused, [runs for runs in judged if _outcomes(runs) == {"success", "failure"}]


def _prompts(mixed: Sequence[Sequence[Loaded]], context: DistillerContext) -> list[int]:
    """Tokens of the prompts: a diagnosis of each task; an aggregation of about one error a task, and patterns
    of one error in five tasks, as the packaged distillation had (docs/concepts/distillation.md)."""
    compared = [compared_runs(runs, context.max_runs).values() for runs in mixed]
    sizes = [tokens_of_runs(run.trajectory for run in runs) for runs in compared]
    patterns = [max(sizes, default=0)] * ceil(len(sizes) / 5)
    return [*sizes, *[tokens_of_runs(())] * len(sizes), *patterns]


def _outcomes(runs: Sequence[Loaded]) -> set[str]:
    """The known outcomes of a task's runs."""
    return {outcome for run in runs if (outcome := run.reference.outcome) != "unknown"}


@dataclass(frozen=True)
class TaskRuns:
    """A mixed task with its runs' trajectories."""

    key: str
    task: str
    runs: tuple[Run, ...]
    trajectories: Mapping[str, Trajectory]
    """By the run's label."""

    @classmethod
    async def load(cls, services: DistillServices, key: str, record: MixedTask) -> TaskRuns:
        """The task with its stored trajectories. Raises FilesError when they are no longer stored."""
        by_label = {run["label"]: await services.load(run["stored"]) for run in record["runs"]}
        return cls(key, record["task"], tuple(record["runs"]), by_label)

    def labelled(self, labels: Sequence[str] | None = None) -> list[LabelledRun]:
        """The runs, or those of `labels`, for a prompt."""
        return [
            (run["label"], run["outcome"], self.trajectories[run["label"]])
            for run in self.runs
            if labels is None or run["label"] in labels
        ]

    def label_problem(self, label: str, outcome: str) -> str | None:
        """Why there is no run `label` of this outcome."""
        run = next((run for run in self.runs if run["label"] == label), None)
        if run is None:
            return f"there is no run {label!r}: choose one of {', '.join(self.trajectories)}"
        if run["outcome"] != outcome:
            return f"{label} is not a {'failed (F)' if outcome == 'failure' else 'successful (S)'} run"
        return None


def compared_runs(runs: Sequence[Loaded], most: int) -> dict[str, Loaded]:
    """At most `most` of a task's runs by label, failed ones (F1, F2, ...) before successful ones (S1, ...):
    half of each, or all of the kind that there are fewer of."""
    failed = [run for run in runs if run.reference.outcome == "failure"]
    successful = [run for run in runs if run.reference.outcome == "success"]
    of_failed = max(most - len(successful), most - most // 2)
    chosen = {f"F{number}": run for number, run in enumerate(failed[:of_failed], 1)}
    of_successful = most - len(chosen)
    return chosen | {f"S{number}": run for number, run in enumerate(successful[:of_successful], 1)}


def run_record(label: str, run: Loaded, file: str, stored: str) -> Run:
    """The record of a run, which was read from `file` and is `stored` under a hash."""
    trajectory, outcome = run.trajectory, run.reference.outcome
    assert outcome != "unknown"
    return Run(
        label=label, id=trajectory.id, outcome=outcome, file=file, source=trajectory.source, stored=stored
    )
