"""Questions of one's own as a benchmark: a tasks file, as `collect` reads it (`trajectories.tasks`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from forethought.collecting.success import CheckerError, Method, check_named, judge_for, load_function
from forethought.evals.benchmarks.reading import choice
from forethought.evals.types import Attempt, Benchmark, InfrastructureError, Sample, Score, Services
from forethought.trajectories.tasks import CollectTask, read_tasks

SUFFIXES = (".jsonl", ".ndjson", ".csv")
_SUCCESS: tuple[Method, ...] = ("exact", "model")


class OwnTasks(Benchmark):
    """The tasks in a file, each judged by its accepted answers, its rubric or its checker."""

    about = "a file of your own questions (.jsonl, .csv)"
    main_metric = "score"
    builtin_tools: Sequence[str] = (
        "read_file", "inspect_image", "inspect_audio", "python", "web_search", "visit_webpage",
    )  # fmt: skip
    options: Mapping[str, str] = {
        "success": "exact (default), or model: how an answer is compared with `expected`"
    }

    def __init__(self, path: Path, checkers: Collection[str] = ()) -> None:
        """`checkers`: those that a person has named, which tasks may call."""
        self.path, self.checkers = path, checkers
        self.name, self.title = path.name, f"Own tasks: {path.name}"

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """The tasks in their order. Raises ValueError, in one line."""
        success = choice(options, "success", _SUCCESS)
        tasks = read_tasks(self.path)
        check_named(tasks, self.checkers)
        for name in {task.checker for task in tasks if task.checker}:
            load_function(name)
        return [_sample(task, success) for task in tasks]

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """1 for a right answer; the share of a rubric's criteria that are met; what a checker says.

        Raises ModelError, and InfrastructureError for a checker that fails.
        """
        task = CollectTask.model_validate(sample.data["task"])
        judge = judge_for(task, sample.data["success"], services.models, services.judge_model)
        answered = attempt.trajectory.model_copy(update={"task": task.task, "answer": attempt.answer})
        try:
            verdict = await judge.judge(answered)
        except CheckerError as error:
            raise InfrastructureError(str(error)) from error
        share = float(verdict.success) if verdict.share is None else verdict.share
        return Score({"score": share}, verdict.reason)

    def references(self, sample: Sample) -> Sequence[str]:
        """The accepted answers, else the criteria and the reference."""
        task = CollectTask.model_validate(sample.data["task"])
        return task.expected or task.references


def _sample(task: CollectTask, success: str) -> Sample:
    return Sample(
        id=task.id,
        task=task.task,
        files=tuple(map(Path, task.files)),
        target=list(task.expected) or None,
        data={"task": task.model_dump(mode="json"), "success": success},
    )
