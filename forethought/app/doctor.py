"""doctor: whether this installation works: packages, database, keys. No key is shown."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from forethought.app.command_flags import CommandOptions
from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, FAILED, CliError, explain
from forethought.app.options import settings_from
from forethought.app.text import one_line, to_json

if TYPE_CHECKING:
    from forethought.settings import Settings

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


class DoctorOptions(CommandOptions):
    """The flags of `doctor`."""

    offers = "db base_url"


@dataclass(frozen=True)
class Check:
    """One thing that was checked. `core`: no run works without it."""

    name: str
    ok: bool
    detail: str
    core: bool = False


def doctor(options: DoctorOptions) -> int:
    """Check this installation: packages, database, keys."""
    checks = list(run_checks(settings_from(options)))
    works = all(check.ok for check in checks if check.core)
    if options.as_json:
        print(to_json({"ok": works, "checks": [asdict(check) for check in checks]}))
        return ANSWERED if works else FAILED
    console = make_console()
    for check in checks:
        mark, style = ("ok", "green") if check.ok else ("--", "red" if check.core else "yellow")
        line = Text(f"{mark}  ", style=style).append(f"{check.name:<30}", style="default")
        console.print(line.append(one_line(check.detail, 300), style="dim" if check.ok else "default"))
    console.print("the core works" if works else "the core does not work")
    return ANSWERED if works else FAILED


def run_checks(settings: Settings) -> Iterator[Check]:
    """All checks, the core first."""
    good = (3, 11) <= sys.version_info[:2] < (3, 14)
    needed = "" if good else ": 3.11 to 3.13 is needed"
    yield Check("python", good, platform.python_version() + needed, core=True)
    try:
        yield Check("database", True, _database(settings), core=True)
    except Exception as error:
        # Whatever breaks is what a person wants to be told here.
        yield Check("database", False, explain(error).line, core=True)
    yield from _keys(settings)
    for purpose, module, install in _OPTIONAL:
        is_there = importlib.util.find_spec(module) is not None
        yield Check(purpose, is_there, "installed" if is_there else f"not installed: {install}")


def _database(settings: Settings) -> str:
    from forethought.storage import address_of, open_threads
    from forethought.storage.errors import NoThreads

    address = address_of(settings)
    if address.path is not None:
        place = next(each for each in (address.path, *address.path.absolute().parents) if each.exists())
        if not os.access(place, os.W_OK) or not (place == address.path or place.is_dir()):
            raise CliError(f"{place} cannot be written to; choose another place with --db or FORETHOUGHT_DB")

    async def read() -> None:
        with suppress(NoThreads):
            async with open_threads(address, settings.key, create=False) as saver:
                await saver.newest(1)

    if address.exists:
        asyncio.run(read())
    return f"{address.shown} can be used{', encrypted' if settings.key else ''}"


def _keys(settings: Settings) -> Iterator[Check]:
    from forethought.models.providers import KEYS, keys_set
    from forethought.models.types import ConfigurationError

    try:
        keys = keys_set([name for names in KEYS.values() for name in names])
    except ConfigurationError as error:
        yield Check("model keys", False, str(error))
        return
    hint = "none set: set one, such as OPENAI_API_KEY, or a base URL"
    yield Check("model keys", bool(keys or settings.base_url), ", ".join(keys) or hint)
    if settings.base_url:
        yield Check("FORETHOUGHT_API_KEY", True, "set" if settings.api_key else "not set (none will be sent)")
    tavily = "not set: web search goes without a key" if settings.tavily_api_key is None else "set"
    yield Check("TAVILY_API_KEY", True, tavily)
