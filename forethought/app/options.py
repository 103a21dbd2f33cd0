"""From flags, environment and .env to the Settings and the Context of a run.

Settings come from a flag, else the environment, else the default. A Context comes from a flag, else what the
thread was run with (for a thread that exists), else the environment, else the default.
"""

from __future__ import annotations

import difflib
import io
import json
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from forethought.app.errors import CliError
from forethought.app.text import one_line
from forethought.redaction import without_credentials as without_credentials
from forethought.settings import MODEL_HINT, Settings, read_settings, reason_of
from forethought.state.bounds import bounded
from forethought.state.context import Context

C = TypeVar("C", bound=BaseModel)
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True)
class Flags:
    """The flags that several commands take."""

    model: str | None = None
    base_url: str | None = None
    db: str | None = None
    sets: tuple[str, ...] = ()
    tools: str | None = None
    record: Path | None = None
    replay: Path | None = None
    environment: str | None = None
    """MODULE:NAME of what makes the world that a debugged trajectory ran in."""
    allow_writes: bool = False
    """Whether a debugging may run again what changed something outside."""


def load_dotenv(folder: Path) -> None:
    """Load `folder`/.env into the environment without overriding it.

    Raises CliError for a line that cannot be read: it is not skipped in silence.
    """
    from dotenv import load_dotenv as load
    from dotenv.parser import parse_stream

    path = folder / ".env"
    if not path.is_file():
        return
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CliError(f"{path} is not UTF-8 text: save it as UTF-8") from error
    for binding in parse_stream(io.StringIO(text)):
        if binding.error or "\0" in binding.original.string:
            skipped = len(binding.original.string) - len(binding.original.string.lstrip())
            line = binding.original.line + binding.original.string[:skipped].count("\n")
            raise CliError(
                f"{path}, line {line}: cannot be read; write NAME=value, with quotes around spaces and #"
            )
    load(stream=io.StringIO(text), override=False)


def unknown_variables(names: Iterable[str]) -> Iterator[str]:
    """A line for each FORETHOUGHT_ variable that is no setting: a misspelt bound would bind nothing."""
    prefix = "FORETHOUGHT_"
    known = [prefix + name.upper() for name in Settings.model_fields if name != "tavily_api_key"]
    known.append(f"{prefix}DEBUG")
    for name in sorted(names):
        if name.startswith(prefix) and name not in known:
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
            hint = f"did you mean {close[0]}?" if close else ".env.example lists what there is"
            yield f"{one_line(name)} is set, but is no setting; {hint}"


def settings_from(flags: Flags) -> Settings:
    """The operator's settings, with the flags.

    Raises CliError that names the variable that is wrong.
    """
    try:
        settings = read_settings()
    except ValueError as error:
        raise CliError(str(error)) from error
    _check_flags(flags)
    given = {"base_url": flags.base_url, "tools": flags.tools, "db": flags.db}
    chosen = {name: value for name, value in given.items() if value}
    _check_address(chosen.get("base_url") or settings.base_url)
    settings = settings.model_copy(update=chosen)
    if (settings.tools or flags.environment) and str(Path.cwd()) not in sys.path:
        # Last, so that a file that happens to lie here takes no installed module's place.
        sys.path.append(str(Path.cwd()))
    return settings


def context_of(
    kind: type[C],
    flags: Flags,
    settings: Settings,
    saved: Mapping[str, Any] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> C:
    """A context of this kind: `saved` or the defaults, changed by --model and --set, then by `overrides`.

    It is within the operator's bounds. Raises CliError that names the setting and its bound.
    """
    values: dict[str, Any] = dict(saved) if saved else ({"model": settings.model} if settings.model else {})
    if flags.model:
        values["model"] = flags.model
    values |= dict(parse_set(item, kind) for item in flags.sets)
    try:
        return bounded(kind.model_validate({**values, **(overrides or {})}), settings)
    except ValidationError as error:
        raise CliError(wrong_setting(error, flags)) from error
    except ValueError as error:
        raise CliError(str(error)) from error


def context_from_flags(flags: Flags, settings: Settings, saved: Mapping[str, Any] | None = None) -> Context:
    """See `context_of`; the agent's."""
    return context_of(Context, flags, settings, saved)


def _check_flags(flags: Flags) -> None:
    """Raises CliError for an empty flag, as an unset shell variable leaves it, and for a file as --tools."""
    given = {"--model": flags.model, "--base-url": flags.base_url, "--db": flags.db, "--tools": flags.tools}
    for name, value in given.items():
        if value is not None and not value.strip():
            raise CliError(f"{name} is empty: give it a value, or leave it out")
    if flags.tools and (flags.tools.endswith(".py") or not _MODULE.fullmatch(flags.tools)):
        name = Path(flags.tools).stem
        hint = f", such as {name}, in a folder on PYTHONPATH or this one" if _MODULE.fullmatch(name) else ""
        raise CliError(f"--tools {one_line(flags.tools)}: name a Python module, not a file{hint}")


def _check_address(url: str | None) -> None:
    if url is None:
        return
    try:
        parts = urlsplit(url)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        raise CliError("the base URL must look like https://host/v1 (--base-url or FORETHOUGHT_BASE_URL)")


def parse_set(item: str, of: type[BaseModel] = Context) -> tuple[str, Any]:
    """KEY=VALUE as a field of the Context, or of another one, and its value.

    Raises CliError for a key that is not one.
    """
    fields = of.model_fields
    key, equals, text = item.partition("=")
    key = key.strip()
    if not equals:
        raise CliError(f"--set {one_line(item)}: write KEY=VALUE")
    if key not in fields:
        close = difflib.get_close_matches(key, fields, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(fields)}"
        raise CliError(f"--set: unknown setting {one_line(key)!r}; {hint}")
    return key, _parse_value(key, text.strip(), is_text=fields[key].annotation is str)


def _parse_value(key: str, text: str, is_text: bool) -> Any:
    if is_text or key.endswith("model"):
        return None if text.lower() == "none" and key != "model" and key.endswith("model") else text
    if key == "forced_replans":
        return () if text.lower() == "none" else _numbers(text)
    if text.lower() == "none":
        return None
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    try:
        return json.loads(text)
    except ValueError:
        return text


def _numbers(text: str) -> Any:
    parts = [part.strip() for part in text.strip("[]() ").split(",") if part.strip()]
    return tuple(int(part) if part.isdigit() else part for part in parts)


def wrong_setting(error: ValidationError, flags: Flags) -> str:
    """Which setting is out of bounds, and how."""
    first = error.errors()[0]
    key = str(first["loc"][0])
    typed = {item.partition("=")[0].strip(): item.partition("=")[2].strip() for item in flags.sets}
    named = key in typed
    flag = f"--set {key}"
    if key == "model" and not named:
        flag = "--model" if flags.model else "FORETHOUGHT_MODEL"
    if first["type"] == "string_pattern_mismatch":
        given = one_line(first.get("input"))
        return f"{flag}: {given!r} is not a model's name; {MODEL_HINT}"
    given = typed[key] if named and len(first["loc"]) == 1 else first.get("input")
    return f"{flag}: {one_line(given)!r}: {reason_of(first)}"


def resume_command(thread_id: str, flags: Flags) -> str:
    """The command that goes on with the thread."""
    return f"forethought resume {thread_id}{resume_flags(flags)}"


def resume_flags(flags: Flags) -> str:
    """The flags that a resumed thread has to be given again, ' ' before each.

    An address loses its password; a database's address that may hold one is left out.
    """
    file = flags.db if flags.db and ("://" not in flags.db or flags.db.startswith("sqlite:")) else None
    values = {
        "--db": file,
        "--tools": flags.tools,
        "--base-url": without_credentials(flags.base_url),
        "--environment": flags.environment,
        "--replay": flags.replay,
    }
    text = "".join(f" {name} {shlex.quote(str(value))}" for name, value in values.items() if value)
    return text + " --allow-writes" * flags.allow_writes


def check_repeated(
    what: str, flags: Flags, settings: Settings, *, tools: str | None = None, base_url: str | None = None
) -> None:
    """Raises CliError unless a person names again the `tools` and the `base_url` that `what` was run with.

    Whoever can write to a database could name a module there, which would be imported, or an address, which
    the operator's key would be sent to. So both come from flags and the environment alone. A flag may name
    others than the record; the environment, whose author need not have thought of this thread, may not.
    """
    if tools and not flags.tools and tools != settings.tools:
        raise must_be_repeated(what, "--tools", tools)
    if base_url and not flags.base_url and base_url != without_credentials(settings.base_url):
        raise CliError(
            f"{what} was run with --base-url {_quoted(base_url)}, and prompts and key go only where you say: "
            "give --base-url again, this one or another"
        )


def must_be_repeated(what: str, flag: str, name: str) -> CliError:
    """The error for a record that names code which no flag names."""
    named = f"{flag} {_quoted(name)}"
    return CliError(f"{what} was run with {named}, which is code: give {named} again")


def _quoted(name: str) -> str:
    return shlex.quote(one_line(name, 200))
