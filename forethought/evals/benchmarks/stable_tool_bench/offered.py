"""The APIs of a query as tools of an agent."""

from __future__ import annotations

from typing import Any

from forethought.evals.benchmarks.stable_tool_bench.apis import Api
from forethought.evals.benchmarks.stable_tool_bench.serving import SECONDS, ApiServer
from forethought.tools.base import Tool, ToolEnv
from forethought.tools.mcp_schema import arguments_model


def api_tool(api: Api, server: ApiServer) -> Tool:
    """The tool that calls `api` at `server`. Names and descriptions are somebody else's: data in a prompt."""

    async def run(env: ToolEnv, /, **arguments: Any) -> str:
        return await server.call(api, {name: value for name, value in arguments.items() if value is not None})

    return Tool(
        name=api.name,
        description=api.description,
        arguments=arguments_model(api.name, api.parameters),
        run=run,
        timeout_s=SECONDS + 10,
        retryable=True,
        foreign=True,
    )
