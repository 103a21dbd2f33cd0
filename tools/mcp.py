"""The tools of MCP servers, as any other tool: through langchain-mcp-adapters (extra `mcp`).

A server's names, descriptions and schemas are data like everything that comes from outside. Each call has a
session of its own, so that no connection outlives it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from forethought.extras import install_command
from forethought.settings import Settings
from forethought.tools.base import Tool
from forethought.tools.langchain_tool import from_langchain, plain_name
from forethought.tools.mcp_errors import CONNECT_S, pass_on_cancellation, reason
from forethought.tools.mcp_settings import McpServer, McpServers, McpSetupError, McpTool

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


async def mcp_tools(servers: McpServers, reserved: Sequence[str] = ()) -> list[Tool]:
    """The tools of all servers; a reserved name, or one that two servers use, becomes server__tool.

    Raises McpSetupError, one line, when a server cannot be asked or offers what cannot be used.
    """
    enabled = {name: server for name, server in servers.servers.items() if not server.disabled}
    offers = await asyncio.gather(*(_list_tools(name, server) for name, server in enabled.items()))
    plain = [plain_name(tool.name) for offered in offers for tool in offered]
    ambiguous = {name for name in plain if plain.count(name) > 1} | set(reserved)
    return [
        _tool(server_name, server, tool, ambiguous)
        for (server_name, server), offered in zip(enabled.items(), offers, strict=True)
        for tool in offered
    ]


async def _list_tools(name: str, server: McpServer) -> list[BaseTool]:
    try:
        from langchain_mcp_adapters.tools import load_mcp_tools
    except ImportError as error:
        raise McpSetupError(f"the MCP client is not installed: {install_command('mcp')}") from error
    try:
        async with asyncio.timeout(CONNECT_S):
            return await load_mcp_tools(None, connection=server.connection())
    except Exception as error:
        # Whatever a server, its program or the way to it does wrong, the operator wants to know which.
        pass_on_cancellation()
        raise McpSetupError(f"MCP server {name} cannot be used: {reason(error)}") from error


def _tool(server_name: str, server: McpServer, offered: BaseTool, ambiguous: set[str]) -> Tool:
    options = {**server.options, **server.tools.get(offered.name, McpTool()).options}
    try:
        tool = from_langchain(offered, server_name, **options)
    except ValueError as error:
        raise McpSetupError(f"MCP server {server_name}: {error}") from error
    if tool.name in ambiguous:
        tool = replace(tool, name=plain_name(f"{server_name}__{offered.name}"))
    return tool


class McpBox:
    """The MCP tools of a graph: asked for when a run first needs them, since asking takes an event loop."""

    def __init__(self, servers: McpServers, settings: Settings, reserved: Sequence[str]) -> None:
        self._servers, self._settings, self._reserved = servers, settings, reserved
        self._filled = False

    async def fill(self, box: dict[str, Tool]) -> None:
        """Add the tools to `box`, once. Raises McpSetupError, one line, when a server cannot be used."""
        tools = [] if self._filled else await mcp_tools(self._servers, [*box, *self._reserved])
        if self._filled:  # also by another node of the same wave, in the meantime
            return
        for tool in tools:
            if tool.name in box or tool.name in self._reserved:
                raise McpSetupError(f"two tools are called {tool.name}: rename an MCP server")
            box[tool.name] = tool
        self._filled = True
