"""What the synthesizer's nodes work with besides state and context: built once a graph, holding nothing of
any synthesis."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

from langgraph.runtime import Runtime

from forethought.collecting.attempts import Attempt
from forethought.models.ask import Models
from forethought.settings import Settings
from forethought.state.bounds import context_of
from forethought.state.synthesizer_context import SynthesizerContext
from forethought.tools.files import FileStore
from forethought.trajectories.types import Trajectory


@dataclass(frozen=True)
class SynthesizeServices:
    """The operator's settings, the models, the store of trajectories, and how a task is tried."""

    settings: Settings
    models: Models
    store: FileStore
    attempt: Attempt | None = None

    def context(self, runtime: Runtime[SynthesizerContext]) -> SynthesizerContext:
        """The synthesis's context within the operator's bounds. Raises ValueError when it asks for a model
        that is not allowed."""
        return context_of(SynthesizerContext, runtime.context, self.settings)

    async def keep(self, trajectory: Trajectory) -> str:
        """Keep a trajectory, without what is known of it; returns its hash. Raises FilesError."""
        data = json.dumps(trajectory.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)
        return await asyncio.to_thread(self.store.put, data.encode("utf-8", "replace"))

    async def kept(self, stored: str) -> Trajectory:
        """A trajectory by its hash. Raises FilesError when it is no longer stored."""
        return Trajectory.model_validate_json(await asyncio.to_thread(self.store.get, stored))
