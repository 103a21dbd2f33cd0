"""doctor: whether this installation works: packages, database, keys. No key is shown."""

from __future__ import annotations

import asyncio
import difflib
import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version

from rich.text import Text

from forethought.app.command_flags import CommandOptions, flag
from forethought.app.config import set_variables
from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, FAILED, CliError, explain, input_errors
from forethought.app.options import settings_from
from forethought.app.text import one_line, to_json
from forethought.extras import install_command
from forethought.redaction import LISTED, weak_secrets
from forethought.settings import VARIABLES, Settings

_EXTRAS = (
    ("Postgres", "psycopg", "postgres"),
    ("encryption", "pycryptodome", "encryption"),
    ("batch workers", "procrastinate", "scale"),
    ("MCP servers", "mcp", "mcp"),
    ("local transcription", "openai-whisper", "audio"),
    ("CPython sandbox", "sandlock", "sandbox"),
    ("OpenTelemetry", "opentelemetry-sdk", "otel"),
    ("evaluations", "inspect-ai", "evals"),
    ("ALFWorld", "alfworld", "alfworld"),
    ("AgentDojo", "agentdojo", "agentdojo"),
    ("training", "trl", "train"),
    ("multi-GPU training", "deepspeed", "train-gpus"),
    ("LangGraph server", "langgraph-cli", "server"),
    ("smolagents", "smolagents", "smolagents"),
    ("SQL over tables", "duckdb", "sql"),
    ("deep agents in evaluations", "deepagents", "deepagents"),
    ("embeddings of folders", "sqlite-vec", "embeddings"),
)
"""What for, the package that it needs, and the extra that installs it."""
_OWN = {"FORETHOUGHT_DEBUG", LISTED}
"""Variables that are no fields of the settings."""


class DoctorOptions(CommandOptions):
    """The flags of `doctor`."""

    offers = "db base_url"

    model: str | None = flag(help="Ask this model once in each form instead.", metavar="M")


@dataclass(frozen=True)
class Check:
    """One thing that was checked. `core`: no run works without it."""

    name: str
    ok: bool
    detail: str
    core: bool = False


def doctor(options: DoctorOptions) -> int:
    """Check this installation: packages, database, keys. With --model, ask that model in each form."""
    if options.model:
        return _try_model(options.model, options)
    checks = list(run_checks(settings_from(options)))
    works = all(check.ok for check in checks if check.core)
    if options.as_json:
        print(to_json({"ok": works, "checks": [asdict(check) for check in checks]}))
        return ANSWERED if works else FAILED
    console = make_console()
    for check in checks:
        mark, style = ("ok", "green") if check.ok else ("--", "red" if check.core else "yellow")
        line = Text(f"{mark}  ", style=style).append(f"{check.name:<32}", style="default")
        console.print(line.append(one_line(check.detail, 300), style="dim" if check.ok else "default"))
    broken = ", ".join(check.name for check in checks if check.core and not check.ok)
    console.print(f"runs cannot start; fix: {broken}" if broken else "everything that a run needs works")
    return ANSWERED if works else FAILED


def _try_model(model: str, options: DoctorOptions) -> int:
    """Ask `model` in each form, and print the results."""
    from forethought.models.live import LiveTransport
    from forethought.models.probe import SHAPES, Found, probe
    from forethought.models.types import ModelError

    settings, console, found = settings_from(options), make_console(), list[Found]()

    async def ask() -> None:
        transport = LiveTransport(settings)
        transport.verify(model)
        async for each in probe(transport, model):
            found.append(each)
            if not options.as_json:
                mark, style = ("ok", "green") if each.works else ("--", "yellow")
                line = Text(f"{mark}  ", style=style).append(f"{each.what:<22}", style="default")
                console.print(line.append(f"{each.seconds:6.1f}s  {one_line(each.detail, 160)}", style="dim"))

    try:
        asyncio.run(ask())
    except ModelError as error:
        raise CliError(str(error)) from error
    shape = any(each.works for each in found if each.what in SHAPES)
    if options.as_json:
        print(to_json({"ok": shape, "model": model, "forms": [asdict(each) for each in found]}))
    else:
        console.print("runs ask by the first form that works" if shape else "no form brings a JSON object")
    return ANSWERED if shape else FAILED


def run_checks(settings: Settings) -> Iterator[Check]:
    """All checks, the core first."""
    good = (3, 11) <= sys.version_info[:2] < (3, 14)
    needed = "" if good else "; install 3.11, 3.12 or 3.13"
    yield Check("python", good, platform.python_version() + needed, core=True)
    yield _attempt("database", _database, settings)
    yield from _keys(settings)
    yield _attempt("planning errors", _planning_errors, settings)
    yield _attempt("tracing", _tracing, settings)
    yield _attempt("tools", _tools, settings.model_copy(update={"tracing": "off"}))
    yield from _default_model(settings)
    origins = ", ".join(f"{name} ({origin})" for name, (_, origin) in set_variables().items())
    yield Check("settings", True, origins or "none is set; .env.example lists all settings")
    yield from _secrets()
    yield from _unknown_variables()
    for purpose, package, extra in _EXTRAS:
        try:
            yield Check(purpose, True, f"{package} {version(package)}")
        except PackageNotFoundError:
            yield Check(purpose, False, f"not installed: {install_command(extra)}")


def _attempt(name: str, check: Callable[[Settings], str], settings: Settings) -> Check:
    """A part of the core. Whatever breaks is what a person wants to be told here."""
    try:
        with input_errors():
            return Check(name, True, check(settings), core=True)
    except Exception as error:
        return Check(name, False, explain(error).line, core=True)


def _database(settings: Settings) -> str:
    from forethought.storage import address_of, open_threads
    from forethought.storage.errors import NoThreads

    address = address_of(settings)
    if address.path is not None:
        place = next(each for each in (address.path, *address.path.absolute().parents) if each.exists())
        if not os.access(place, os.W_OK) or not (place == address.path or place.is_dir()):
            raise CliError(f"{place} is not writable; choose another place with --db or FORETHOUGHT_DB")

    async def read() -> None:
        with suppress(NoThreads):
            async with open_threads(address, settings.key, create=False) as saver:
                await saver.newest(1)

    if address.exists:
        asyncio.run(read())
    return f"{address.shown} works{', encrypted' if settings.key else ''}"


def _tools(settings: Settings) -> str:
    """What is offered besides the built-in tools. Raises what a run would: the module, the MCP file."""
    from forethought.graph.agent import build_agent

    build_agent(settings=settings)
    return ", ".join(str(each) for each in (settings.tools, settings.mcp_file) if each) or "built-in only"


def _planning_errors(settings: Settings) -> str:
    from forethought.knowledge.planning_errors import load_planning_errors

    count = len(load_planning_errors(settings.planning_errors_file))
    return f"{count}, {settings.planning_errors_file or 'packaged'}"


def _tracing(settings: Settings) -> str:
    from forethought.telemetry import enable

    enable(settings)
    return settings.tracing


def _default_model(settings: Settings) -> Iterator[Check]:
    """Where runs that name no model would be refused."""
    from forethought.state.context import Context, bounded

    try:
        bounded(Context(), settings)
    except ValueError as error:
        yield Check(
            "FORETHOUGHT_ALLOWED_MODELS", False, f"{error}; set FORETHOUGHT_MODEL to an allowed model"
        )


def _keys(settings: Settings) -> Iterator[Check]:
    from forethought.models import Models
    from forethought.models.providers import KEYS, keys_set
    from forethought.models.types import ConfigurationError

    try:
        keys = keys_set([name for names in KEYS.values() for name in names])
        if settings.model:
            Models(settings).verify([settings.model])
    except ConfigurationError as error:
        yield Check("model keys", False, str(error), core=True)
        return
    hint = "none set; set one with: forethought config set OPENAI_API_KEY (or base_url=...)"
    needless = f"none is needed for {(settings.base_url and 'the base URL') or settings.model}"
    can_ask = bool(keys or settings.base_url or settings.model)
    yield Check("model keys", can_ask, ", ".join(keys) or (needless if can_ask else hint), core=True)
    if settings.base_url:
        yield Check("FORETHOUGHT_API_KEY", True, "set" if settings.api_key else "not set (none will be sent)")
    tavily = "not set: ddgs searches, which needs no key" if settings.tavily_api_key is None else "set"
    yield Check("TAVILY_API_KEY", True, tavily)


def _secrets() -> Iterator[Check]:
    """Names only: a weak secret is not shown either."""
    weak = ", ".join(weak_secrets())
    advice = f"too weak to be redacted: {weak}; set random values (docs/how-to/deploy.md, Redaction)"
    yield Check("secrets", not weak, advice if weak else "all are redacted")
    listed = os.environ.get(LISTED, "").replace(" ", "").split(",")
    if missing := sum(name not in os.environ for name in listed if name):
        yield Check(LISTED, False, f"{missing} of the listed variables are not set; list names, not values")


def _unknown_variables() -> Iterator[Check]:
    known = _OWN | VARIABLES.keys()
    for name in sorted(os.environ):
        if name.startswith("FORETHOUGHT_") and name not in known:
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
            hint = f"did you mean {close[0]}?" if close else ".env.example lists all settings"
            yield Check(name, False, f"is not a setting and has no effect; {hint}")
