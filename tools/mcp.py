"""The tools of MCP servers, as any other tool: through langchain-mcp-adapters (extra `mcp`).

A server's names, descriptions and schemas are data like everything that comes from outside. Each call has a
session of its own, so that no connection outlives it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from forethought.redaction import redactor
from forethought.text import one_line
from forethought.tools.base import Effect, Observation, Tool, ToolEnv, ToolError
from forethought.tools.mcp_schema import arguments_model
from forethought.tools.mcp_settings import McpServer, McpServers, McpSetupError, McpTool

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from forethought.settings import Settings

CONNECT_S = 60.0
"""Longest wait for a server to say what it offers."""
LONGEST_DESCRIPTION = 6000
"""Characters: it stands in every prompt."""
_LONGEST_NAME = 64


async def mcp_tools(servers: McpServers, reserved: Sequence[str] = ()) -> list[Tool]:
    """The tools of all servers; a reserved name, or one that two servers use, becomes server__tool.

    Raises McpSetupError, one line, when a server cannot be asked or offers what cannot be used.
    """
    enabled = {name: server for name, server in servers.servers.items() if not server.disabled}
    offers = await asyncio.gather(*(_list_tools(name, server) for name, server in enabled.items()))
    plain = [_plain(tool.name) for offered in offers for tool in offered]
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
        raise McpSetupError("the MCP client is not installed: pip install 'forethought[mcp]'") from error
    try:
        async with asyncio.timeout(CONNECT_S):
            return await load_mcp_tools(None, connection=server.connection(), handle_tool_errors=False)
    except Exception as error:
        # Whatever a server, its program or the way to it does wrong, the operator wants to know which.
        _pass_on_cancellation()
        raise McpSetupError(f"MCP server {name} cannot be used: {_why(error)}") from error


def _tool(server_name: str, server: McpServer, offered: BaseTool, ambiguous: set[str]) -> Tool:
    name = _plain(offered.name)
    if name in ambiguous:
        name = _plain(f"{server_name}__{offered.name}")
    options = {**server.options, **server.tools.get(offered.name, McpTool()).options}
    hints = offered.metadata or {}
    try:
        model = arguments_model(name, offered.args_schema)  # type: ignore[arg-type]
    except ValueError as error:
        raise McpSetupError(f"MCP server {server_name}: the schema of {offered.name} {error}") from error

    async def run(env: ToolEnv, /, **arguments: Any) -> Observation:
        return await _call(server_name, offered, arguments)

    return Tool(
        name=name,
        description=(offered.description or hints.get("title") or offered.name).strip()[:LONGEST_DESCRIPTION],
        arguments=model,
        run=run,
        retryable=bool(hints.get("readOnlyHint") or hints.get("idempotentHint")),
        foreign=True,
        **{"effect": _effect(hints), **options},
    )


def _effect(hints: Mapping[str, Any]) -> Effect:
    """What a server says of a tool: without a word it may change something, and reading is in an open world,
    which sends the arguments there (both are the protocol's own defaults)."""
    if not hints.get("readOnlyHint"):
        return "write"
    return "read" if hints.get("openWorldHint") is False else "egress"


async def _call(server_name: str, tool: BaseTool, arguments: dict[str, Any]) -> Observation:
    from langchain_core.tools import ToolException
    from mcp import McpError
    from mcp.types import CONNECTION_CLOSED

    try:
        # Not `ainvoke`, which would tell LangChain's tracing of the call a second time.
        blocks, artifact = await tool.coroutine(**arguments)  # type: ignore[attr-defined]
    except ToolException as error:
        raise ToolError(str(error)) from error
    except Exception as error:
        _pass_on_cancellation()
        cause = _innermost(error)
        from_server = isinstance(cause, McpError) and cause.error.code != CONNECTION_CLOSED
        raise ToolError(
            f"the MCP server {server_name} did not carry it out: {_why(error)}",
            cause="tool" if from_server else "transport",
            retryable=not from_server,
        ) from error
    if not blocks and artifact:
        return Observation(json.dumps(artifact["structured_content"], ensure_ascii=False))
    return Observation("\n".join(map(_shown, blocks)))


def _pass_on_cancellation() -> None:
    """A session that is cancelled may end with an error of its own: what counts is that it was cancelled."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _shown(block: Mapping[str, Any]) -> str:
    """The text of a block of content; what is no text is named, not shown."""
    if "text" in block:
        return str(block["text"])
    address = f" at {block['url']}" if block.get("url") else ""
    return f"[{block.get('mime_type') or block['type']}{address}, not shown]"


def _innermost(error: BaseException) -> BaseException:
    """The first error of a group of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _why(error: BaseException) -> str:
    """The reason in one line, without secrets."""
    error = _innermost(error)
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECT_S:g} s"
    return one_line(redactor()(one_line(error) or type(error).__name__), 300)


def _plain(name: str) -> str:
    """A name that every provider takes for a function."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:_LONGEST_NAME]


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
