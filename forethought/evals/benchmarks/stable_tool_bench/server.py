"""Calls to the virtual API server, which answers them from its records or has a model invent answers.

The protocol is the server's: POST with category, tool_name, api_name, tool_input (the arguments as JSON
text), strip and toolbench_key; the answer is {"error", "response"}. The key that its operator may ask for is
read from the environment variable TOOLBENCH_KEY at each call, and kept nowhere.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from forethought.evals.benchmarks.stable_tool_bench.apis import Api
from forethought.evals.types import InfrastructureError
from forethought.tools.base import Tool, ToolEnv, ToolError
from forethought.tools.json_arguments import arguments_model

OBSERVATION = 1024
"""Maximum characters of an answer shown to an agent, as in the official inference."""
SECONDS = 120.0
"""Longest wait for an answer: the server may ask a model for it."""
_CONNECT_S = 5.0


def check_server(url: str) -> None:
    """Raises InfrastructureError where nobody listens at `url`, such as http://localhost:8080/virtual."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), _CONNECT_S).close()
    except OSError as error:
        raise InfrastructureError(
            f"no virtual API server answers at {url} ({error}): start it, or give its address with "
            "--option server=URL"
        ) from error


def api_tool(api: Api, url: str) -> Tool:
    """The tool that calls `api` at `url`. Names and descriptions are somebody else's: data in a prompt."""

    async def run(env: ToolEnv, /, **arguments: Any) -> str:
        return await _call(url, api, {name: value for name, value in arguments.items() if value is not None})

    return Tool(
        name=api.name,
        description=api.description,
        arguments=arguments_model(api.name, api.parameters),
        run=run,
        timeout_s=SECONDS + 10,
        retryable=True,
        foreign=True,
    )


async def _call(url: str, api: Api, arguments: Mapping[str, Any]) -> str:
    """The answer as JSON text, cut to OBSERVATION characters. Raises ToolError, also where the API itself
    reports an error and says nothing else."""
    key = os.environ.get("TOOLBENCH_KEY", "")
    body = {
        "category": api.category,
        "tool_name": api.tool,
        "api_name": api.api,
        "tool_input": json.dumps(arguments, ensure_ascii=False),
        "strip": "truncate",
        "toolbench_key": key,
    }
    try:
        async with httpx.AsyncClient(timeout=SECONDS, trust_env=False) as client:
            reply = await client.post(url, json=body, headers={"toolbench_key": key})
    except httpx.HTTPError as error:
        why = f"the API server did not answer ({type(error).__name__})"
        raise ToolError(why, cause="transport", retryable=True) from error
    if not reply.is_success:
        passing = reply.status_code >= 500 or reply.status_code == httpx.codes.TOO_MANY_REQUESTS
        why = f"the API server answered HTTP {reply.status_code}"
        raise ToolError(why, cause="transport", retryable=passing)
    try:
        answer = reply.json()
    except ValueError as error:
        raise ToolError("the API server did not answer with JSON", cause="transport") from error
    text = json.dumps(answer, ensure_ascii=False)
    text = text if len(text) <= OBSERVATION else f"{text[:OBSERVATION]}..."
    if isinstance(answer, dict) and answer.get("error") and not answer.get("response"):
        raise ToolError(text, cause="tool")
    return text
