"""What the nodes work with besides state and context: built once a graph, holding nothing of any run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langgraph.runtime import Runtime

from forethought.models.ask import Models
from forethought.settings import Settings
from forethought.state.bounds import bounded
from forethought.state.context import Context, context_from
from forethought.tools.base import Tool
from forethought.tools.files import FileStore
from forethought.tools.mcp import McpBox


@dataclass(frozen=True)
class Services:
    """The operator's settings, the tools, the models and the file store."""

    settings: Settings
    tools: dict[str, Tool]
    models: Models
    store: FileStore
    mcp: McpBox | None = None

    async def ready(self) -> None:
        """Have the tools of the MCP servers as well, from the first time on. Raises McpSetupError
        when a server cannot be used."""
        if self.mcp is not None:
            await self.mcp.fill(self.tools)

    def context(self, runtime: Runtime[Context]) -> Context:
        """The run's context within the operator's bounds. Raises ValueError when it asks for what is not
        allowed."""
        given: Context | dict[str, Any] | None = runtime.context
        return bounded(context_from(given), self.settings)
