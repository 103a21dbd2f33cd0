"""mcp: what other agents and editors may ask of Forethought, over stdin and stdout or HTTP."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

from forethought.app.command_flags import ModelOptions, flag
from forethought.app.errors import ANSWERED, CliError, echo
from forethought.app.text import one_line

if TYPE_CHECKING:
    from mcp.server.fastmcp import FastMCP

_OWN = {"": "127.0.0.1", "localhost": "127.0.0.1", "127.0.0.1": "127.0.0.1", "::1": "::1", "[::1]": "::1"}
"""The names of this machine, and their addresses."""


class McpOptions(ModelOptions):
    """The flags of `mcp`."""

    offers = "tools"

    http: str | None = flag(
        help="Listen on this port of this machine instead of stdin.", metavar="[HOST:]PORT"
    )


def mcp(options: McpOptions) -> int:
    """Offer plan reviews, debugging, tasks and lessons to MCP clients."""
    try:
        from forethought.app.mcp_server import build_server
    except ImportError as error:
        raise CliError("it needs the extra mcp: pip install 'forethought[mcp]'") from error
    if options.http is None:
        build_server(options, stdio=True).run()
        return ANSWERED
    with listening_socket(options.http) as listening:
        host, port = listening.getsockname()[:2]
        echo(f"listening on http://{f'[{host}]' if ':' in host else host}:{port}/mcp")
        asyncio.run(serve(build_server(options), listening))
    return ANSWERED


def listening_socket(place: str) -> socket.socket:
    """A socket that listens on [HOST:]PORT of this machine. Raises CliError."""
    host, _, port = place.rpartition(":")
    if not (port.isascii() and port.isdecimal() and int(port) < 65536):
        raise CliError(f"--http {one_line(place, 60)}: write [HOST:]PORT, as in --http 8765")
    if host not in _OWN:
        raise CliError(
            f"--http {one_line(place, 60)}: clients need no token, so it listens on localhost only; put a "
            "proxy that asks for one before it"
        )
    family = socket.AF_INET6 if ":" in _OWN[host] else socket.AF_INET
    try:
        return socket.create_server((_OWN[host], int(port)), family=family)
    except OSError as error:
        raise CliError(f"--http {place}: {error.strerror}; choose another port") from error


async def serve(server: FastMCP, listening: socket.socket) -> None:
    """Answer at /mcp until SIGINT or SIGTERM."""
    import uvicorn

    config = uvicorn.Config(server.streamable_http_app(), log_level="warning")
    await uvicorn.Server(config).serve(sockets=[listening])
