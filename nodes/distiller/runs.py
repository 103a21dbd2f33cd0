"""The runs of one task: which are compared, and how they are labelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forethought.nodes.support.offline import OfflineServices
from forethought.state.distiller import DistillerContext, MixedTask, Run
from forethought.trajectories.show import LabelledRun
from forethought.trajectories.types import Loaded, Trajectory

DistillServices = OfflineServices[DistillerContext]


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
            return f"there is no run {label!r}: the runs are {', '.join(self.trajectories)}"
        if run["outcome"] != outcome:
            return f"{label} is no {'failed (F)' if outcome == 'failure' else 'successful (S)'} run"
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
