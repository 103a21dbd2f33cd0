"""Who answers the API calls: the benchmark's virtual API server over HTTP, or a recorded cache.

The protocol is the server's: POST with category, tool_name, api_name, tool_input (the arguments as JSON
text), strip and toolbench_key; the answer is {"error", "response"}. The cache is the server's folder
`tool_response_cache/CATEGORY/TOOL_for_CATEGORY/API.json`: an object from the arguments, printed as Python
prints a dict, to such an answer.
"""

from __future__ import annotations

import ast
import asyncio
import json
import os
import re
import socket
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx

from forethought.evals.benchmarks.stable_tool_bench.apis import Api
from forethought.evals.types import InfrastructureError
from forethought.tools.base import Tool, ToolEnv, ToolError
from forethought.tools.mcp_schema import arguments_model

OBSERVATION = 1024
"""Characters of an answer that an agent is shown, as in the official inference."""
SECONDS = 120.0
"""Longest wait for an answer: the server may ask a model for it."""
_CONNECT_S = 5.0


class ApiServer(Protocol):
    """Answers calls."""

    def check(self) -> None:
        """Raises InfrastructureError where it is not there."""

    async def call(self, api: Api, arguments: Mapping[str, Any]) -> str:
        """The answer as JSON text, cut to OBSERVATION characters. Raises ToolError."""


class VirtualServer:
    """The virtual API server at `url`, such as http://localhost:8080/virtual.

    The key that its operator may ask for is read from the environment variable TOOLBENCH_KEY at each call: it
    is kept nowhere.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def check(self) -> None:
        """See `ApiServer`."""
        parts = urlsplit(self.url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            socket.create_connection((parts.hostname or "", port), _CONNECT_S).close()
        except OSError as error:
            raise InfrastructureError(
                f"no virtual API server at {self.url}: start it, or set server ({error})"
            ) from error

    async def call(self, api: Api, arguments: Mapping[str, Any]) -> str:
        """See `ApiServer`."""
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
                reply = await client.post(self.url, json=body, headers={"toolbench_key": key})
        except httpx.HTTPError as error:
            raise ToolError(
                f"the API server did not answer ({type(error).__name__})", cause="transport", retryable=True
            ) from error
        if not reply.is_success:
            passing = reply.status_code >= 500 or reply.status_code == httpx.codes.TOO_MANY_REQUESTS
            raise ToolError(
                f"the API server answered HTTP {reply.status_code}", cause="transport", retryable=passing
            )
        try:
            return _shown(reply.json())
        except ValueError as error:
            raise ToolError("the API server did not answer with JSON", cause="transport") from error


class RecordedCache:
    """The recorded answers in `folder` (`tool_response_cache`)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def check(self) -> None:
        """See `ApiServer`."""
        if not self.folder.is_dir():
            raise InfrastructureError(f"there is no cache of responses in {self.folder}: set cache")

    async def call(self, api: Api, arguments: Mapping[str, Any]) -> str:
        """See `ApiServer`. Arguments are found as they were printed, or else whatever their order."""
        return await asyncio.to_thread(self._answer, api, arguments)

    def _answer(self, api: Api, arguments: Mapping[str, Any]) -> str:
        try:
            recorded = _recorded(self._file(api))
        except (OSError, ValueError, RecursionError) as error:
            why = f"no response of {api.name} is recorded ({type(error).__name__})"
            raise ToolError(why, cause="unavailable", hint="another API may do") from error
        answer = recorded.get(str(dict(arguments)), recorded.get(_key(arguments)))
        if answer is None:
            why = f"no response of {api.name} to these arguments is recorded"
            raise ToolError(why, cause="not_found", hint="other arguments or another API may do")
        return _shown(answer)

    def _file(self, api: Api) -> Path:
        """Raises ValueError for a category that leads out of the folder; the other names cannot."""
        if not re.fullmatch(r"[^./\\][^/\\]*", api.category):
            raise ValueError("its category is no folder")
        return self.folder / api.category / f"{api.tool}_for_{api.category}" / f"{api.api}.json"


@lru_cache(maxsize=256)
def _recorded(path: Path) -> dict[str, Any]:
    """The answers in a file, by the arguments as printed and by their sorted JSON."""
    value = json.loads(path.read_text("utf-8"))
    if not isinstance(value, dict):
        raise ValueError("it is no object")
    found: dict[str, Any] = {}
    for printed, answer in value.items():
        try:
            arguments = ast.literal_eval(printed)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            arguments = None
        if isinstance(arguments, dict):
            found.setdefault(_key(arguments), answer)
    return {**found, **value}


def _key(arguments: Mapping[str, Any]) -> str:
    return json.dumps({str(key): value for key, value in arguments.items()}, sort_keys=True, default=str)


def _shown(answer: Any) -> str:
    """The answer as text. Raises ToolError where the API itself reports an error and says nothing else."""
    text = json.dumps(answer, ensure_ascii=False)
    text = text if len(text) <= OBSERVATION else f"{text[:OBSERVATION]}..."
    error = answer.get("error") if isinstance(answer, dict) else None
    if error and not answer.get("response"):
        raise ToolError(text, cause="tool")
    return text


@cache
def server_for(url: str, cache_folder: str) -> ApiServer:
    """The server that the options of a run name."""
    return RecordedCache(Path(cache_folder)) if cache_folder else VirtualServer(url)


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
