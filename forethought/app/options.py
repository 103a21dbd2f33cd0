"""From flags, environment and .env to the Settings and the Context of a run.

Settings come from a flag, else the environment, else the default. A Context comes from a flag, else what the
thread was run with (for a thread that exists), else the environment, else the default.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from forethought.app.command_flags import Flags
from forethought.app.errors import CliError, input_errors
from forethought.app.text import clean, one_line
from forethought.approval_rules import read_rules
from forethought.redaction import without_credentials
from forethought.settings import Settings, read_settings, reason_of
from forethought.state.context import Context, bounded, unknown_setting

C = TypeVar("C", bound=BaseModel)
_LISTED = 20
"""Most models of a server that are named."""


class WrongSetting(CliError):
    """A setting of a run that is not valid: its key, and the reason for the middle of a line."""

    def __init__(self, key: str, reason: str, line: str) -> None:
        super().__init__(line)
        self.key, self.reason = key, reason


def settings_from(flags: Flags) -> Settings:
    """The operator's settings, with the flags. Raises CliError."""
    overrides = {name: value for name in ("base_url", "tools", "db") if (value := getattr(flags, name))}
    with input_errors():
        settings = read_settings(**overrides)
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
    values |= dict(parse_set(item, kind) for item in flags.sets or ())
    if flags.approval_policy:
        with input_errors():
            values["approvals"] = read_rules(flags.approval_policy)
    if settings.base_url and "model" not in values and not flags.replay:
        values["model"] = _served_model(kind.model_fields["model"].default, settings)
    try:
        context = kind.model_validate({**values, **(overrides or {})})
    except ValidationError as error:
        raise _wrong_setting(error, flags) from error
    with input_errors():
        return bounded(context, settings)


def _served_model(model: str, settings: Settings) -> str:
    """The default model, or the only one that the server at the base URL serves. Raises CliError."""
    from forethought.models.providers import split
    from forethought.models.served import served_models

    served = served_models(settings)
    if len(served) == 1:
        return f"openai:{served[0]}"
    if served and split(model, settings.base_url)[1] not in served:
        listed = ", ".join(served[:_LISTED]) + (", ..." if len(served) > _LISTED else "")
        place = without_credentials(settings.base_url)
        raise CliError(
            f"the server at {place} does not serve {model}; set the model to one of these: "
            f"{one_line(listed, 900)}"
        )
    return model


def parse_set(item: str, of: type[BaseModel] = Context) -> tuple[str, Any]:
    """KEY=VALUE as a field of the Context, or of another one, and its value.

    Raises CliError for a key that is not one.
    """
    fields = of.model_fields
    key, equals, text = item.partition("=")
    key = key.strip()
    if not equals:
        raise CliError(f"--set {one_line(item)}: write KEY=VALUE")
    if of is Context and key in ("file", "files"):
        raise CliError(f"--set {key}: name files with --file")
    if key == "approvals":
        raise CliError("--set approvals: write the rules to a file and name it with --approval-policy")
    if key not in fields:
        raise CliError(f"--set: {clean(unknown_setting(key, of))}")
    return key, _parse_value(text.strip(), fields[key].annotation)


def _parse_value(text: str, annotation: Any) -> Any:
    """`text` as pydantic reads it; `none` is no value, commas part a tuple."""
    no_value = text.lower() == "none"
    if any(get_origin(kind) is tuple for kind in (annotation, *get_args(annotation))):
        return [part.strip() for part in text.strip("[]() ").split(",") if part.strip() and not no_value]
    return None if no_value and type(None) in get_args(annotation) else text


def _wrong_setting(error: ValidationError, flags: Flags) -> WrongSetting:
    """Which setting is out of bounds, and how."""
    first = error.errors()[0]
    key, reason = str(first["loc"][0]), reason_of(first)
    flag = "--model" if key == "model" and flags.model else f"--set {key}"
    return WrongSetting(key, reason, f"{flag} is {one_line(first.get('input'))!r}: {reason}")


def resume_command(thread_id: str, flags: Flags) -> str:
    """The command that goes on with the thread."""
    return f"forethought resume {thread_id}{resume_flags(flags)}"


def resume_flags(flags: Flags) -> str:
    """The flags that have to be given again, ' ' before each.

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
            f"{what} was run with --base-url {_quoted(base_url)}, and a record cannot choose who gets your "
            "key: repeat --base-url, or name another address"
        )


def must_be_repeated(what: str, flag: str, name: str) -> CliError:
    """The error for a record that names code which no flag names."""
    words = f"{flag} {_quoted(name)}"
    return CliError(f"{what} was run with {words}, which is code: repeat {words}")


def _quoted(name: str) -> str:
    return shlex.quote(one_line(name, 200))
