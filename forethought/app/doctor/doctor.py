"""doctor: whether this installation works, found by trying each part of it. Keys are never shown."""

from __future__ import annotations

import asyncio
import importlib.util
import platform
import sys
from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version

from rich.text import Text

from forethought.app.display import make_console
from forethought.app.doctor.checks import Check, tried
from forethought.app.doctor.database import database_check
from forethought.app.doctor.samples import SAMPLES, WORD
from forethought.app.doctor.tools import tool_checks
from forethought.app.errors import ANSWERED, FAILED, CliError
from forethought.app.options import Flags, settings_from, without_credentials
from forethought.app.text import one_line, to_json
from forethought.settings import Settings

_PACKAGES = (
    "forethought",
    "langgraph",
    "langchain",
    "langgraph-checkpoint-sqlite",
    "langchain-openai",
    "unstructured",
)
_REACH_S = 3.0


def report_health(flags: Flags, as_json: bool) -> int:
    """Try everything and print it. Returns 0 if the core works, else 1."""
    settings = settings_from(flags)
    checks = list(run_checks(settings))
    works = all(check.ok for check in checks if check.core)
    if as_json:
        print(to_json({"ok": works, "checks": [asdict(check) for check in checks]}))
    else:
        console = make_console()
        for check in checks:
            mark, style = ("ok", "green") if check.ok else ("--", "red" if check.core else "yellow")
            line = Text(f"{mark}  ", style=style).append(f"{check.name:<30}", style="default")
            console.print(line.append(one_line(check.detail, 300), style="dim" if check.ok else "default"))
        console.print(
            Text("the core works" if works else "the core does not work", style="green" if works else "red")
        )
    return ANSWERED if works else FAILED


def run_checks(settings: Settings) -> Iterable[Check]:
    """All checks, in the order in which a person wants to mend what is wrong."""
    yield _python()
    yield from _packages()
    yield database_check(settings)
    for name in SAMPLES:
        yield _parser(name)
    yield _sandbox(settings)
    yield from tool_checks(settings)
    yield from _keys(settings)
    yield _address(settings)
    yield from _extras()


def _python() -> Check:
    good = (3, 11) <= sys.version_info[:2] < (3, 14)
    return Check(
        "python", good, platform.python_version() + ("" if good else ": 3.11 to 3.13 is needed"), core=True
    )


def _packages() -> Iterable[Check]:
    for package in _PACKAGES:
        try:
            yield Check(package, True, version(package))
        except PackageNotFoundError:
            # This project itself also runs from a checkout that is not installed.
            yield Check(package, False, "not installed", core=package != "forethought")


def _parser(name: str) -> Check:
    def attempt() -> str:
        from forethought.tools.documents.read import read_document

        text = read_document(SAMPLES[name](), f"sample.{name}").text
        if WORD not in text:
            raise CliError(f"read, but the text is not there: {one_line(text, 80)}")
        return "reads a sample"

    return tried(f"reads {name}", attempt, core=name == "txt")


def _sandbox(settings: Settings) -> Check:
    def attempt() -> str:
        from forethought.tools.base import ToolEnv
        from forethought.tools.python import python

        result = asyncio.run(python(ToolEnv(settings=settings), "1+1"))
        if result.text.strip() != "2":
            raise CliError(f"1+1 gave {one_line(result.text, 80)}")
        return "1+1 is 2"

    return tried("python sandbox", attempt, core=True)


def _keys(settings: Settings) -> Iterable[Check]:
    from forethought.models.providers import KEYS, keys_set
    from forethought.models.types import ConfigurationError

    found: list[str] = []
    for name in (name for names in KEYS.values() for name in names):
        try:
            found += keys_set([name])
        except ConfigurationError as error:
            yield Check(name, False, str(error))
    enough = bool(found or settings.base_url)
    yield Check(
        "model keys", enough, ", ".join(found) or "none set: set one, such as OPENAI_API_KEY, or a base URL"
    )
    if settings.base_url:
        yield Check("FORETHOUGHT_API_KEY", True, "set" if settings.api_key else "not set (none will be sent)")
    tavily = settings.tavily_api_key is not None
    yield Check("TAVILY_API_KEY", True, "set" if tavily else "not set: web search goes without a key")


def _address(settings: Settings) -> Check:
    if not settings.base_url:
        return Check("base URL", True, "none set: the providers' own addresses")
    url = settings.base_url

    def attempt() -> str:
        import httpx

        try:
            answer = httpx.get(f"{url.rstrip('/')}/models", timeout=_REACH_S)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise CliError(
                f"{without_credentials(url)}: {type(error).__name__}: {one_line(error, 120)}"
            ) from error
        return f"{without_credentials(url)} answers (HTTP {answer.status_code})"

    return tried("base URL", attempt)


def _extras() -> Iterable[Check]:
    server = importlib.util.find_spec("langgraph_cli") is not None
    yield Check(
        "langgraph server", server, "installed" if server else "for Studio: pip install 'forethought[server]'"
    )
