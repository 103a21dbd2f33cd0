"""What went wrong with an MCP server, in one line without secrets."""

from __future__ import annotations

import asyncio

from forethought.redaction import redactor
from forethought.text import one_line
from forethought.tools.base import ToolError

CONNECT_S = 60.0
"""Longest wait for a server to say what it offers."""


def mcp_failure(error: BaseException, server: str) -> ToolError:
    """The failure of a call. Raises CancelledError where it is the task that was cancelled."""
    from mcp import McpError
    from mcp.types import CONNECTION_CLOSED

    pass_on_cancellation()
    cause = _innermost(error)
    from_server = isinstance(cause, McpError) and cause.error.code != CONNECTION_CLOSED
    return ToolError(
        f"{f'the MCP server {server}' if server else 'its MCP server'} failed: {reason(error)}",
        cause="tool" if from_server else "transport",
        retryable=not from_server,
    )


def pass_on_cancellation() -> None:
    """A session that is cancelled may end with an error of its own: what counts is that it was cancelled."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def reason(error: BaseException) -> str:
    """The reason in one line, without secrets."""
    error = _innermost(error)
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECT_S:g} s"
    return one_line(redactor()(one_line(error) or type(error).__name__), 300)


def _innermost(error: BaseException) -> BaseException:
    """The first error of a group of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
