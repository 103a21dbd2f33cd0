"""One trial of a task with what was learned from the trial before it (SAMULE 3.2.1, micro level)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from forethought.collecting.folder import Trial, key_of
from forethought.collecting.running import Collector
from forethought.trajectories.tasks import Attempted, CollectTask


@dataclass(frozen=True)
class AgentAttempts:
    """Trials by this project's agent. A trial that is finished is not run again: one that nobody could judge
    is judged anew, any other is read."""

    collector: Collector

    async def __call__(self, task: CollectTask, trial: int, guidance: Sequence[str]) -> Attempted:
        """See `Attempt`."""
        collector, folder = self.collector, self.collector.folder
        done = {key_of(item["task"], item["trial"]): item for item in await asyncio.to_thread(folder.trials)}
        record = done.get(key_of(task.id, trial))
        if record is None:
            record = await collector.run(task, trial, guidance)
        elif record["outcome"] == "unknown":
            record = await collector.judge_again(task, record)
        return await asyncio.to_thread(self._attempted, task, record)

    def _attempted(self, task: CollectTask, record: Trial) -> Attempted:
        from forethought.nodes.support.prompt_text import files_text
        from forethought.state.agent import FileRef

        files = cast(list[FileRef | str], self.collector.take_files(task.files))
        return Attempted(
            loaded=self.collector.folder.loaded(record),
            reason=record["reason"],
            background=files_text(files) if files else "",
            usage=record["usage"],
        )
