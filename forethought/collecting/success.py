"""Whether a collected run succeeded: by its accepted answers (`rollouts.evaluators`), or by a checker.

A run is never judged by what it says of itself (PreFlect 3.2.1 samples outcomes against known answers). Who
cannot judge says so: the outcome is then unknown, and the run counts for neither side.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from forethought.models.ask import Models
from forethought.rollouts.evaluators import GoldAnswer, ModelJudge, RubricJudge
from forethought.rollouts.types import Evaluator, Verdict
from forethought.text import one_line
from forethought.trajectories.tasks import CollectTask
from forethought.trajectories.types import Trajectory

Method = Literal["exact", "model"]


class CheckerError(RuntimeError):
    """A checker that could not judge a run, and why, in one line."""


def judge_for(task: CollectTask, method: Method, models: Models, model: str) -> Evaluator:
    """Who judges the runs of `task`. Raises ValueError when its checker cannot be loaded."""
    if task.checker:
        return Checker(task, load_function(task.checker))
    if task.rubric:
        return RubricJudge(models, model, task.rubric)
    return (
        ModelJudge(models, model, task.expected) if method == "model" else GoldAnswer(task.expected, "exact")
    )


@dataclass(frozen=True)
class Checker:
    """A function of the person who collects: (answer, task) -> whether it is right, or a share of 1."""

    task: CollectTask
    check: Callable[[str, dict[str, Any]], Any]
    name: str = "checker"

    async def judge(self, trajectory: Trajectory) -> Verdict:
        """See `Evaluator`. Raises CheckerError, whatever the function raises."""
        fields = {"id": self.task.id, "task": self.task.task, "files": list(self.task.files)}
        try:
            value = await asyncio.to_thread(self.check, trajectory.answer, fields)
            if inspect.isawaitable(value):
                value = await value
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".rstrip(": ")
            raise CheckerError(f"{self.task.checker} failed: {one_line(reason, 300)}") from error
        if not isinstance(value, bool | int | float):
            kind = type(value).__name__
            raise CheckerError(f"{self.task.checker} must return True, False or a number, not {kind}")
        share = min(max(float(value), 0.0), 1.0)
        return Verdict(value >= 1 - 1e-6, f"{self.task.checker} says {value}", share=share)


def check_named(tasks: Sequence[CollectTask], named: Collection[str]) -> None:
    """Raises ValueError unless a person has named each checker of the tasks: a tasks file is data, and which
    function is run is nothing that it decides."""
    wanted = dict.fromkeys(task.checker for task in tasks if task.checker and task.checker not in named)
    if wanted:
        flags = " ".join(f"--checker {name}" for name in wanted)
        raise ValueError(f"the tasks name checkers, which run code: allow them with {one_line(flags, 500)}")


def load_function(spec: str) -> Callable[..., Any]:
    """The function that MODULE:NAME means. Raises ValueError, in one line."""
    function = load_object(spec)
    if not callable(function):
        raise ValueError(f"{spec} is not a function; name one as MODULE:NAME")
    return function  # type: ignore[no-any-return]


def load_object(spec: str) -> Any:
    """What MODULE:NAME means; the module is the caller's own, installed or in the current folder. Raises
    ValueError, in one line."""
    module, _, name = spec.partition(":")
    if str(Path.cwd()) not in sys.path:
        # Last, so that a file that happens to lie here takes no installed module's place.
        sys.path.append(str(Path.cwd()))
    try:
        return attrgetter(name)(import_module(module))
    except Exception as error:
        # Whatever the module does, the line has to name it.
        raise ValueError(f"{spec}: {type(error).__name__}: {one_line(error)}") from error
