"""Runs of the agent on tasks, judged and kept in a folder: what `collect` and `synthesize` share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from forethought.app.command_flags import CommandOptions, flag
from forethought.app.errors import input_errors
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.storage.address import file_address

if TYPE_CHECKING:
    from forethought.collecting.running import Collector
    from forethought.trajectories.tasks import CollectTask


class TrialOptions(CommandOptions):
    """How runs are judged, and with which tools they are made."""

    offers = "checkers tools"

    success: Literal["exact", "model"] = flag(help="Comparison with `expected`.", default="exact")
    judge_model: str | None = flag(help="Judge model.", metavar="M", show_default="--model")

    def read_tasks(self, path: Path) -> list[CollectTask]:
        """The tasks in a file. Raises CliError, also for a checker that no flag names."""
        from forethought.collecting.success import check_named
        from forethought.trajectories.tasks import read_tasks

        with input_errors():
            tasks = read_tasks(path)
            check_named(tasks, self.checkers or ())
            return tasks


@asynccontextmanager
async def open_collector(
    options: TrialOptions, tasks: Sequence[CollectTask], out: Path, settings: Settings, context: Context
) -> AsyncIterator[Collector]:
    """What runs tasks and keeps them in the folder `out`, which is held for this process.

    Raises CliError, ConfigurationError, StorageError.
    """
    from forethought.app.runner import claimed_threads
    from forethought.collecting.folder import Folder
    from forethought.collecting.running import Collector
    from forethought.collecting.success import judge_for
    from forethought.graph.agent import build_agent
    from forethought.models import Models
    from forethought.rollouts.evaluators import ModelJudge, RubricJudge
    from forethought.state.context import models_of

    models, judge_model = Models(settings), options.judge_model or context.model
    async with AsyncExitStack() as stack:
        with input_errors():
            judges = {task.id: judge_for(task, options.success, models, judge_model) for task in tasks}
            asks_judge = any(isinstance(judge, ModelJudge | RubricJudge) for judge in judges.values())
            models.verify([*models_of(context), *([judge_model] if asks_judge else [])])
            folder = Folder(out)
            choices = {"model": context.model, "context": context.model_dump(mode="json")}
            folder.open(tasks, {**choices, "success": options.success})
            opening = claimed_threads(file_address(folder.database), settings.key, "collection")
            saver = await stack.enter_async_context(opening)
            graph = build_agent(settings=settings, checkpointer=saver)
        yield Collector(graph, context, settings, folder, judges)
