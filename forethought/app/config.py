"""config: the user's own settings, in a file of the platform's configuration folder.

The file is a .env file for every folder: the environment and a folder's own .env take precedence over it.
"""

from __future__ import annotations

import difflib
import os
import sys
from pathlib import Path

import typer
from dotenv import dotenv_values, set_key, unset_key
from pydantic import ValidationError

from forethought.app.command_flags import CommandOptions, argument, typer_command, user_file
from forethought.app.errors import ANSWERED, CliError
from forethought.app.text import one_line
from forethought.models.providers import KEYS
from forethought.settings import SECRETS, VARIABLES, Settings, reason_of

config_app = typer.Typer(
    help="Set the model, its address and keys for all folders.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
_KEYS = sorted({name for names in KEYS.values() for name in names})
"""Variables of the providers' keys."""


class ConfigSetOptions(CommandOptions):
    """The flags of `config set`."""

    settings: list[str] = argument(
        "Setting, or a provider's key (without a value: typed or piped).",
        "NAME=VALUE...",
    )


class ConfigUnsetOptions(CommandOptions):
    """The flags of `config unset`."""

    names: list[str] = argument("Setting.", "NAME...")


def set_values(options: ConfigSetOptions) -> int:
    """Save settings for all folders."""
    values = dict(_setting(item) for item in options.settings)
    try:
        Settings(**{VARIABLES[name]: value for name, value in values.items() if name in VARIABLES})  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        raise CliError(f"{first['loc'][0]}: {reason_of(first)}") from error
    path = user_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    for name, value in values.items():
        set_key(path, name, value)
    path.chmod(0o600)
    options.print_result({"path": str(path), "set": sorted(values)}, [f"saved in {path}"])
    return ANSWERED


def show(options: CommandOptions) -> int:
    """List settings and their sources, without secrets."""
    rows = set_variables()
    lines = [f"{_field(name)} = {value}  ({origin})" for name, (value, origin) in rows.items()]
    as_json = {_field(name): {"value": value, "from": origin} for name, (value, origin) in rows.items()}
    options.print_result(as_json, lines or ["nothing is set; start with: forethought config set model=..."])
    return ANSWERED


def unset(options: ConfigUnsetOptions) -> int:
    """Remove settings from the file."""
    path, names = user_file(), [_variable(name) for name in options.names]
    kept = dotenv_values(path)
    if missing := [name for name in names if name not in kept]:
        raise CliError(f"{_field(missing[0])} is not set in {path}; see: forethought config show")
    for name in names:
        unset_key(path, name)
    options.print_result({"path": str(path), "unset": names}, [f"removed from {path}"])
    return ANSWERED


def path(options: CommandOptions) -> int:
    """Print the path of the settings file."""
    options.print_result({"path": str(user_file())}, [str(user_file())])
    return ANSWERED


def set_variables() -> dict[str, tuple[str, str]]:
    """The variables that are set: their values, `set` for a secret, and where they come from."""
    files = [(name, dotenv_values(file)) for name, file in ((".env", Path(".env")), ("config", user_file()))]
    rows = {}
    for name in (*VARIABLES, *_KEYS):
        if value := os.environ.get(name):
            origin = next((file for file, values in files if values.get(name) == value), "environment")
            hidden = _is_key(name) or name == "FORETHOUGHT_DB"  # its address may hold a password
            rows[name] = ("(set)" if hidden else one_line(value, 300), origin)
    return rows


def _setting(item: str) -> tuple[str, str]:
    """NAME=VALUE as a variable and its value; a key's value may be asked for. Raises CliError."""
    name, equals, value = item.partition("=")
    variable = _variable(name)
    if not equals and _is_key(variable):
        value = typer.prompt(variable, hide_input=True) if sys.stdin.isatty() else sys.stdin.readline()
    if not value.strip():
        raise CliError(f"{one_line(name, 40)}: write NAME=VALUE (`config unset NAME` removes it)")
    return variable, value.strip()


def _is_key(variable: str) -> bool:
    return variable in _KEYS or VARIABLES[variable].lower() in SECRETS


def _variable(name: str) -> str:
    """The variable of a setting, which may be named by its field or by itself. Raises CliError."""
    name = name.strip()
    known = {given: variable for variable in (*VARIABLES, *_KEYS) for given in (variable, _field(variable))}
    if found := known.get(name):
        return found
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else ".env.example lists all settings"
    raise CliError(f"{one_line(name, 40)!r} is not a setting: {hint}")


def _field(variable: str) -> str:
    """The short name of a variable: model for FORETHOUGHT_MODEL."""
    return VARIABLES.get(variable, variable)


config_app.command("set")(typer_command(set_values))
for _command in (show, unset, path):
    config_app.command()(typer_command(_command))
