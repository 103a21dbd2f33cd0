"""doctor: whether this installation works: packages, database, sandbox, keys. No key is shown."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from rich.text import Text

from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, FAILED, CliError, explain
from forethought.app.options import Flags, settings_from
from forethought.app.text import one_line, to_json
from forethought.redaction import without_credentials

if TYPE_CHECKING:
    from forethought.settings import Settings

_PACKAGES = ("forethought", "langgraph", "langchain", "langgraph-checkpoint-sqlite", "langchain-openai")
_OPTIONAL = (
    ("web search", "ddgs", "pip install ddgs (or set TAVILY_API_KEY)"),
    ("pages", "trafilatura", "pip install trafilatura"),
    ("pictures", "PIL", "pip install pillow"),
    ("Postgres", "psycopg", "pip install 'forethought[postgres]'"),
    ("encryption", "Crypto", "pip install 'forethought[encryption]'"),
    ("batch workers", "procrastinate", "pip install 'forethought[scale]'"),
    ("MCP servers", "mcp", "pip install 'forethought[mcp]'"),
    ("evaluations", "inspect_ai", "pip install 'forethought[evals]'"),
    ("training", "trl", "pip install 'forethought[train]'"),
    ("langgraph server", "langgraph_cli", "pip install 'forethought[server]'"),
)
"""What for, the module that it needs, and how that is installed."""
_TIMEOUT_S = 3.0


@dataclass(frozen=True)
class Check:
    """One thing that was checked. `core`: no run works without it."""

    name: str
    ok: bool
    detail: str
    core: bool = False


def report_health(flags: Flags, as_json: bool) -> int:
    """Check everything and print it. Returns 0 if the core works, else 1."""
    checks = list(run_checks(settings_from(flags)))
    works = all(check.ok for check in checks if check.core)
    if as_json:
        print(to_json({"ok": works, "checks": [asdict(check) for check in checks]}))
        return ANSWERED if works else FAILED
    console = make_console()
    for check in checks:
        mark, style = ("ok", "green") if check.ok else ("--", "red" if check.core else "yellow")
        line = Text(f"{mark}  ", style=style).append(f"{check.name:<30}", style="default")
        console.print(line.append(one_line(check.detail, 300), style="dim" if check.ok else "default"))
    summary = "the core works" if works else "the core does not work"
    console.print(Text(summary, style="green" if works else "red"))
    return ANSWERED if works else FAILED


def run_checks(settings: Settings) -> Iterator[Check]:
    """All checks, the core first."""
    good = (3, 11) <= sys.version_info[:2] < (3, 14)
    needed = "" if good else ": 3.11 to 3.13 is needed"
    yield Check("python", good, platform.python_version() + needed, core=True)
    for package in _PACKAGES:
        try:
            yield Check(package, True, version(package))
        except PackageNotFoundError:
            # This project itself also runs from a checkout that is not installed.
            yield Check(package, False, "not installed", core=package != "forethought")
    yield _attempt("database", lambda: _database(settings), core=True)
    yield _attempt("python sandbox", lambda: _sandbox(settings), core=True)
    yield _attempt("tools", lambda: _tools(settings))
    yield from _keys(settings)
    yield _attempt("base URL", lambda: _base_url(settings))
    for purpose, module, install in _OPTIONAL:
        found = importlib.util.find_spec(module) is not None
        yield Check(purpose, found, "installed" if found else f"not installed: {install}")
    yield _attempt("transcription", lambda: _transcription(settings))


def _attempt(name: str, check: Callable[[], str], core: bool = False) -> Check:
    """The check by trying: what `check` returns, or why it failed."""
    try:
        return Check(name, True, check(), core)
    except Exception as error:
        # Whatever breaks is what a person wants to be told here.
        failure = explain(error)
        line = f"{type(error).__name__}: {one_line(error, 200)}" if failure.internal else failure.line
        return Check(name, False, line, core)


def _database(settings: Settings) -> str:
    from forethought.storage import address_of, open_threads
    from forethought.storage.errors import NoThreads

    address = address_of(settings)
    if address.path is not None:
        place = next(each for each in (address.path, *address.path.absolute().parents) if each.exists())
        if not os.access(place, os.W_OK) or not (place == address.path or place.is_dir()):
            raise CliError(f"{place} cannot be written to; choose another place with --db or FORETHOUGHT_DB")

    async def read() -> None:
        with contextlib.suppress(NoThreads):
            async with open_threads(address, settings.key, read_only=True) as saver:
                await saver.newest(1)

    if address.exists:
        asyncio.run(read())
    return f"{address.shown} can be used{', encrypted' if settings.key else ''}"


def _sandbox(settings: Settings) -> str:
    from forethought.tools.base import ToolEnv
    from forethought.tools.python import python

    result = asyncio.run(python(ToolEnv(settings=settings), "1+1")).text.strip()
    if result != "2":
        raise CliError(f"1+1 gave {one_line(result, 80)}")
    return f"1+1 is 2 ({settings.python_backend})"


def _tools(settings: Settings) -> str:
    from forethought.tools.mcp import mcp_tools
    from forethought.tools.mcp_settings import read_servers
    from forethought.tools.registry import toolbox

    try:
        names = list(toolbox(settings))
    except ValueError as error:
        raise CliError(str(error)) from error
    if settings.mcp_file is not None:
        names += [tool.name for tool in asyncio.run(mcp_tools(read_servers(settings.mcp_file)))]
    return ", ".join(names)


def _keys(settings: Settings) -> Iterator[Check]:
    from forethought.models.providers import KEYS, keys_set
    from forethought.models.types import ConfigurationError

    found: list[str] = []
    for name in (name for names in KEYS.values() for name in names):
        try:
            found += keys_set([name])
        except ConfigurationError as error:
            yield Check(name, False, str(error))
    hint = "none set: set one, such as OPENAI_API_KEY, or a base URL"
    yield Check("model keys", bool(found or settings.base_url), ", ".join(found) or hint)
    if settings.base_url:
        yield Check("FORETHOUGHT_API_KEY", True, "set" if settings.api_key else "not set (none will be sent)")
    tavily = "not set: web search goes without a key" if settings.tavily_api_key is None else "set"
    yield Check("TAVILY_API_KEY", True, tavily)


def _base_url(settings: Settings) -> str:
    if not settings.base_url:
        return "none set: the providers' own addresses"
    import httpx

    shown = without_credentials(settings.base_url)
    try:
        answer = httpx.get(f"{settings.base_url.rstrip('/')}/models", timeout=_TIMEOUT_S)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise CliError(f"{shown}: {type(error).__name__}: {one_line(error, 120)}") from error
    return f"{shown} answers (HTTP {answer.status_code})"


def _transcription(settings: Settings) -> str:
    from forethought.tools.base import ToolError
    from forethought.tools.media.transcribe import chosen_way

    try:
        return chosen_way(settings)
    except ToolError as error:
        raise CliError(error.message) from error
