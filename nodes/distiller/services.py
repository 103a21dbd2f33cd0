"""What the distiller's nodes work with besides state and context: built once a graph, holding nothing of any
distillation."""

from __future__ import annotations

from dataclasses import dataclass

from langgraph.runtime import Runtime

from forethought.models.ask import Models
from forethought.settings import Settings
from forethought.state.bounds import context_of
from forethought.state.distiller_context import DistillerContext
from forethought.tools.files import FileStore


@dataclass(frozen=True)
class DistillServices:
    """The operator's settings, the models, and the store of trajectories."""

    settings: Settings
    models: Models
    store: FileStore

    def context(self, runtime: Runtime[DistillerContext]) -> DistillerContext:
        """The distillation's context within the operator's bounds. Raises ValueError when it asks for a
        model that is not allowed."""
        return context_of(DistillerContext, runtime.context, self.settings)
