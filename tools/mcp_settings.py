"""The file that names MCP servers, in the form that other programs use:

    {"mcpServers": {
        "rooms":   {"command": "python", "args": ["rooms.py"], "env": {"ROOMS_KEY": "${ROOMS_KEY}"}},
        "weather": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${WEATHER_KEY}"},
                    "effect": "read", "timeout_s": 20, "tools": {"report": {"effect": "write"}}}}}

`servers` in place of `mcpServers` will do. `${NAME}` in env, headers and url is the environment's variable,
so that no key need stand in the file. Keys that only other programs know are ignored. The secrets of a file
that is read are secret in the whole process (`forethought.redaction`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, model_validator

from forethought.redaction import candidates, is_strong, register_secrets
from forethought.text import one_line
from forethought.tools.base import Effect

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class McpSetupError(ValueError):
    """The file, or a server that it names, cannot be used: one line that says what to mend."""


class McpTool(BaseModel):
    """What the operator says of one tool, or of all of a server's: fields of `Tool`."""

    effect: Effect | None = Field(default=None, description="By default what the server says.")
    timeout_s: float | None = Field(default=None, gt=0, description="Time limit of a call, in seconds (60).")
    outside: bool | None = None
    private: bool | None = None
    content: tuple[str, ...] | None = None
    record_id: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        """What is said."""
        return self.model_dump(include=set(McpTool.model_fields), exclude_none=True)


class McpServer(McpTool):
    """One server: a program to start, or an address."""

    model_config = ConfigDict(extra="ignore")

    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    transport: str | None = Field(default=None, validation_alias=AliasChoices("transport", "type"))
    """`sse` for the older transport; other values repeat what `command` or `url` imply."""
    headers: dict[str, str] = {}
    disabled: bool = False
    tools: dict[str, McpTool] = {}

    @model_validator(mode="after")
    def _one_way(self) -> McpServer:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either a command or a url")
        urlsplit(self.url or "")  # which refuses what is no address
        return self

    def connection(self) -> Any:
        """The form of langchain-mcp-adapters. Raises KeyError for a variable that is not set."""
        if self.command is not None:
            env = _expand_all(self.env) or None
            return {"transport": "stdio", "command": self.command, "args": self.args, "env": env} | (
                {"cwd": self.cwd} if self.cwd else {}
            )
        kind = "sse" if self.transport == "sse" else "streamable_http"
        return {"transport": kind, "url": _expand(self.url or ""), "headers": _expand_all(self.headers)}

    def secrets(self) -> Iterator[str]:
        """Secrets of this server: values named like a key in its environment, headers and arguments, and what
        is shaped like one; values of variables in its headers and address, but for the host.
        """
        headers, url = _expand_all(self.headers), urlsplit(self.url or "")
        for name, value in (*_expand_all(self.env).items(), *headers.items(), *_options(self.args)):
            yield from candidates(name, value)
        yield from candidates("", _expand(self.url or ""))
        for text in (*self.headers.values(), url.netloc.rpartition("@")[0], url.path, url.query):
            values = (os.environ[name] for name in _VARIABLE.findall(text))
            # An address is no secret as a whole, its parts may be.
            yield from (value for value in values if "://" not in value)
        yield from filter(
            is_strong, (*headers.values(), *re.split("[/?&=]", _expand(f"{url.path}?{url.query}")))
        )


class McpServers(BaseModel):
    """The servers of a file."""

    servers: dict[str, McpServer] = Field(validation_alias=AliasChoices("mcpServers", "servers"))


def read_servers(file: Path) -> McpServers:
    """The servers that `file` names. Raises McpSetupError."""
    try:
        servers = McpServers.model_validate(json.loads(file.read_text("utf-8")))
        register_secrets(secret for server in servers.servers.values() for secret in server.secrets())
        for server in servers.servers.values():
            server.connection()
        return servers
    except OSError as error:
        problem = f"{file} cannot be read: {error.strerror}"
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole file"
        problem = f"{file}: {place}: {one_line(first['msg']).removeprefix('Value error, ')}"
    except KeyError as error:
        problem = (
            f"{file}: the environment variable {error.args[0]} is not set; set it, or remove it from the file"
        )
    except (ValueError, RecursionError) as error:
        problem = f"{file} is not JSON: {one_line(error)}"
    raise McpSetupError(f"the MCP file {problem}")


def _expand_all(values: dict[str, str]) -> dict[str, str]:
    return {name: _expand(value) for name, value in values.items()}


def _expand(text: str) -> str:
    return _VARIABLE.sub(lambda match: os.environ[match[1]], text)


def _options(args: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options of a program and their values: --name=value, --name value and, for headers, name: value."""
    for arg, following in zip_longest(args, args[1:], fillvalue=""):
        name, *value = re.split("[=:]", arg, maxsplit=1)
        yield name, value[0] if value else following
        yield "", arg  # which may be an address
