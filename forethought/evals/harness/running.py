"""Runs the tasks of an evaluation with inspect."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspect_ai import Task, eval_async

from forethought.evals.harness.control import Control
from forethought.evals.harness.inspect_model import inspect_name
from forethought.evals.harness.isolation import inspect_kept_to
from forethought.evals.harness.tasks import Key, MethodTask
from forethought.evals.harness.trial import EvaluationRun
from forethought.evals.results import Result
from forethought.evals.types import Method

_MOST_CALLS = 10_000
"""Side by side: the transport has its own bounds."""


async def run_methods(
    run: EvaluationRun,
    open: Sequence[tuple[Method, Sequence[Key]]],
    learned: Mapping[str, Mapping[str, Any]],
    control: Control,
    parallel: int,
    finished: Callable[[Result], None],
) -> None:
    """Run what is `open` of each method. Raises the error that stopped it all, and CancelledError when it was
    interrupted; what is finished by then is kept."""
    tasks = [
        MethodTask(run, method, control, frozenset(keys), learned.get(method.name, {}), finished).task()
        for method, keys in open
        if keys
    ]
    if not tasks:
        return
    work = asyncio.create_task(_evaluate(run, tasks, parallel))
    control.stop = work.cancel
    try:
        await work
    except asyncio.CancelledError:
        if control.error is None:
            raise
    finally:
        control.stop = lambda: None
    if control.error is not None:
        raise control.error


async def _evaluate(run: EvaluationRun, tasks: list[Task], parallel: int) -> None:
    with inspect_kept_to(run.folder.root):
        logs = await eval_async(
            tasks,
            model=inspect_name(run.plan.model),
            log_dir=str(run.folder.logs),
            log_format="eval",
            log_level="critical",
            log_model_api=True,
            log_buffer=1,
            log_realtime=False,
            score_display=False,
            ctl_server=False,
            max_tasks=len(tasks),
            max_samples=parallel,
            max_connections=_MOST_CALLS,
            adaptive_connections=False,
        )
    if len(logs) < len(tasks) or any(log.status == "cancelled" for log in logs):
        # inspect ends quietly where it was cancelled.
        raise asyncio.CancelledError
    broken = next((log.error.message for log in logs if log.error), None)
    if broken is not None:
        raise RuntimeError(f"inspect broke off: {broken}")
