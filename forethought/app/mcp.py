"""mcp: what other agents and editors may ask of Forethought, over stdin and stdout or HTTP."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
from typing import TYPE_CHECKING

from forethought.app.command_flags import ModelOptions, flag
from forethought.app.errors import ANSWERED, CliError, echo
from forethought.app.options import context_of, settings_from
from forethought.app.text import one_line
from forethought.extras import install_command
from forethought.state.context import Context

if TYPE_CHECKING:
    from mcp.server.fastmcp import FastMCP

_CLOSE_S = 3
"""Longest wait for what is under way when the server ends."""


class McpOptions(ModelOptions):
    """The flags of `mcp`."""

    offers = "tools"

    http: str | None = flag(help="Listen on a port instead of stdin.", metavar="[HOST:]PORT")


def mcp(options: McpOptions) -> int:
    """Serve reviews, debugging, tasks and experience over MCP."""
    try:
        from forethought.app.mcp_server import build_server
    except ImportError as error:
        raise CliError(f"the MCP server is not installed: {install_command('mcp')}") from error
    context_of(Context, options, settings_from(options))  # what is wrong with the flags is told now
    if options.http is None:
        if sys.stdin.isatty():
            echo("waiting for an MCP client on stdin; to listen on a port, use --http PORT")
        build_server(options, stdio=True).run()
        return ANSWERED
    with listening_socket(options.http) as listening:
        echo(f"listening on http://127.0.0.1:{listening.getsockname()[1]}/mcp")
        asyncio.run(serve(build_server(options), listening))
    return ANSWERED


def listening_socket(place: str) -> socket.socket:
    """A socket that listens on [HOST:]PORT of this machine. Raises CliError."""
    host, _, port = place.rpartition(":")
    if not (port.isascii() and port.isdecimal() and int(port) < 65536):
        raise CliError(f"--http {one_line(place, 60)}: write [HOST:]PORT, as in --http 8765")
    if host not in ("", "localhost", "127.0.0.1"):
        raise CliError(
            f"--http {one_line(place, 60)}: clients need no token, so the server listens on localhost "
            "only: for other hosts, put a proxy that asks for a token in front of it"
        )
    try:
        return socket.create_server(("127.0.0.1", int(port)))
    except OSError as error:
        raise CliError(f"--http {place}: {os.strerror(error.errno or 0)}; choose another port") from error


async def serve(server: FastMCP, listening: socket.socket) -> None:
    """Answer at /mcp until SIGINT or SIGTERM."""
    import uvicorn
    from anyio import ClosedResourceError

    def matters(record: logging.LogRecord) -> bool:  # a client that left is an error to the package
        return not (record.exc_info and isinstance(record.exc_info[1], ClosedResourceError))

    logging.getLogger("mcp.server.streamable_http").addFilter(matters)
    config = uvicorn.Config(
        server.streamable_http_app(), log_level="warning", timeout_graceful_shutdown=_CLOSE_S
    )
    await uvicorn.Server(config).serve(sockets=[listening])
