"""What the nodes work with besides state and context: built once a graph, holding nothing of any run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph.runtime import Runtime

from forethought.models.ask import Models
from forethought.settings import Settings
from graph.bounds import bounded
from graph.context import Context, context_from
from tools.base import Tool
from tools.files import FileStore


@dataclass(frozen=True)
class Services:
    """The operator's settings, the tools, the models and the file store."""

    settings: Settings
    tools: Mapping[str, Tool]
    models: Models
    store: FileStore

    def context(self, runtime: Runtime[Context]) -> Context:
        """The run's context within the operator's bounds. Raises ValueError when it asks for what is not
        allowed."""
        given: Context | dict[str, Any] | None = runtime.context
        return bounded(context_from(given), self.settings)
