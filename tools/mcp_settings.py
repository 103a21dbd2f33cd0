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
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, model_validator

from forethought.redaction import looks_like_a_key, redactor, register_secrets, secrets_of, secrets_of_address
from forethought.tools.base import Effect

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_HTTP = ("http", "streamable_http", "streamable-http", "streamableHttp")


class McpSetupError(ValueError):
    """The file, or a server that it names, cannot be used: one line that says what to mend."""


class McpTool(BaseModel):
    """What the operator says of one tool."""

    effect: Effect | None = None
    timeout_s: float | None = Field(None, gt=0)


class McpServer(BaseModel):
    """One server: a program to start, or an address."""

    model_config = ConfigDict(extra="ignore")

    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    transport: (
        Literal["stdio", "http", "streamable_http", "streamable-http", "streamableHttp", "sse"] | None
    ) = Field(None, validation_alias=AliasChoices("transport", "type"))
    headers: dict[str, str] = {}
    disabled: bool = False
    effect: Effect | None = Field(
        None, description="Effect of its tools; by default what they say themselves."
    )
    timeout_s: float = Field(60.0, gt=0, description="Time limit of a call, in seconds.")
    tools: dict[str, McpTool] = {}

    @model_validator(mode="after")
    def _one_way(self) -> McpServer:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either a command or a url")
        if (self.transport == "stdio") != (self.command is not None) and self.transport is not None:
            raise ValueError(f"transport {self.transport} does not fit")
        return self

    def connection(self) -> Any:
        """The form of langchain-mcp-adapters."""
        if self.command is not None:
            found: dict[str, Any] = {"transport": "stdio", "command": self.command, "args": self.args}
            return (
                found
                | ({"env": _expand_all(self.env)} if self.env else {})
                | ({"cwd": self.cwd} if self.cwd else {})
            )
        kind = "sse" if self.transport == "sse" else "streamable_http"
        return {"transport": kind, "url": _expand(self.url or ""), "headers": _expand_all(self.headers)}

    def secrets(self) -> set[str]:
        """What this server was given to keep: what is named like a key in its environment, headers and
        arguments; what variables gave to its headers and address; passwords and keys of addresses.
        """
        env, headers = _expand_all(self.env), _expand_all(self.headers)
        named = [*env.items(), *headers.items(), *_options(self.args)]
        return {
            *(secret for name, value in named for secret in secrets_of(name, value)),
            *(value for value in headers.values() if looks_like_a_key(value)),
            *(value for header in self.headers.values() for value in _variables(header)),
            *_of_url(self.url or ""),
        }

    def without_secrets(self, text: str) -> str:
        """`text` of this server's without its secrets, nor whatever else its environment, headers and address
        were given: words that may well stand in the texts of others."""
        values = [*_expand_all(self.env).values(), *_expand_all(self.headers).values()]
        words = (part for value in values for part in (value, *value.split()))
        return redactor(extra=(*words, *_address_parts(self.url or ""), *self.secrets()))(text)


class McpServers(BaseModel):
    """The servers of a file."""

    servers: dict[str, McpServer] = Field(validation_alias=AliasChoices("mcpServers", "servers"))


def read_servers(file: Path) -> McpServers:
    """The servers that `file` names. Raises McpSetupError."""
    try:
        given = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise McpSetupError(f"the MCP file {file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise McpSetupError(f"the MCP file {file} is no JSON: {' '.join(str(error).split())}") from error
    try:
        servers = McpServers.model_validate(given)
        for server in servers.servers.values():
            server.connection()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        said = " ".join(str(first["msg"]).split()).removeprefix("Value error, ")
        raise McpSetupError(f"the MCP file {file}: {place}: {said}") from error
    except KeyError as error:
        raise McpSetupError(
            f"the MCP file {file}: the environment has no variable {error.args[0]}"
        ) from error
    register_secrets(secret for server in servers.servers.values() for secret in server.secrets())
    return servers


def _expand_all(values: dict[str, str]) -> dict[str, str]:
    return {name: _expand(value) for name, value in values.items()}


def _expand(text: str) -> str:
    return _VARIABLE.sub(lambda found: os.environ[found[1]], text)


def _variables(text: str) -> Iterator[str]:
    """The values that stand for variables in `text`. An address is no secret as a whole, its parts may be."""
    values = (os.environ[name] for name in _VARIABLE.findall(text))
    return (value for value in values if "://" not in value)


def _options(args: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options of a program and their values: --name=value, --name value and, for headers, name: value."""
    for arg, following in zip_longest(args, args[1:], fillvalue=""):
        name, *value = re.split("[=:]", arg, maxsplit=1)
        yield name, value[0] if value else following
        yield "", arg  # which may be an address


def _of_url(given: str) -> Iterator[str]:
    url = _expand(given)
    try:
        template, parts = urlsplit(given), urlsplit(url)
    except ValueError:  # nothing tells what it holds
        yield url
        return
    yield from secrets_of_address(url)
    # The host is no secret, wherever it comes from.
    for part in (template.netloc.rpartition("@")[0], template.path, template.query):
        yield from _variables(part)
    yield from (_expand(option) for option in template.query.split("&") if _VARIABLE.search(option))
    yield from filter(looks_like_a_key, parts.path.split("/"))


def _address_parts(address: str) -> Iterator[str]:
    """The user and the options of an address, whatever they are."""
    with suppress(ValueError):  # all of it is secret then
        parts = urlsplit(_expand(address))
        yield from (parts.username or "", *parts.query.split("&"))
