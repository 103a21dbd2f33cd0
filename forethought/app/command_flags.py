"""The flags of the commands, as the fields of a model for each.

    class ShowOptions(CommandOptions):
        offers = "db"                               # of the flags that commands share
        steps: bool = flag(help="Whole observations.", default=False)

    app.command()(typer_command(show))              # def show(options: ShowOptions) -> int

The models also decide on the Settings and the Context: see `options`.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, get_type_hints

import platformdirs
import typer
from pydantic import BaseModel, ConfigDict, Field

from forethought.app.errors import CliError, enable_debug
from forethought.app.text import clean, to_json


def flag(
    *names: str,
    help: str,
    metavar: str | None = None,
    default: Any = None,
    min: float | None = None,
    max: float | None = None,
    show_default: str | bool = True,
) -> Any:
    """A field that is a flag, --NAME of the field unless `names` say otherwise; `...` has no default.
    `show_default` describes a default that is set elsewhere."""
    extra: dict[str, Any] = {
        "names": list(names),
        "metavar": metavar,
        "min": min,
        "max": max,
        "show_default": show_default,
    }
    return Field(default=default, description=help, json_schema_extra=extra)


def argument(help: str, metavar: str, default: Any = ...) -> Any:
    """A field that is an argument."""
    return Field(default=default, description=help, json_schema_extra={"metavar": metavar})


class Flags(BaseModel):
    """The flags that commands share; each command offers some of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str | None = flag(help="Model, as provider:name.", metavar="M")
    base_url: str | None = flag(help="OpenAI-compatible server.", metavar="URL")
    db: str | None = flag(
        help="Thread database: path, sqlite:///PATH or postgresql://USER@HOST/DB.", metavar="URL"
    )
    sets: list[str] | None = flag(
        "--set",
        help="Run setting, such as max_steps=10 (repeatable; docs/reference/context.md).",
        metavar="KEY=VALUE",
    )
    approval_policy: Path | None = flag(help="YAML file of approval rules.", metavar="FILE")
    tools: str | None = flag(help="Module of additional tools.", metavar="MODULE")
    checkers: list[str] | None = flag(
        "--checker",
        help="Function that may judge tasks (repeatable).",
        metavar="MODULE:NAME",
    )
    environment: str | None = flag(
        help="Environment of re-runs.",
        metavar="MODULE:NAME|FOLDER",
    )
    allow_writes: bool = flag(help="Allow re-runs that repeat outside changes.", default=False)
    record: Path | None = flag(help="Record model replies.", metavar="FILE")
    replay: Path | None = flag(help="Replay recorded model replies.", metavar="FILE")
    as_json: bool = flag("--json", help="Print JSON on stdout, the rest on stderr.", default=False)
    quiet: bool = flag("--quiet", "-q", help="Print only the answer on stdout.", default=False)
    debug: bool = flag(help="Show tracebacks.", default=False)


class CommandOptions(Flags):
    """The options of a command: its own flags, and shared ones."""

    offers: ClassVar[str] = ""
    """Names of shared flags, besides those that its base classes offer."""
    prints_json: ClassVar[bool] = True
    """Whether it has --json."""

    def print_result(self, value: Any, lines: Sequence[str]) -> None:
        """Print the value where --json asks for it, else the lines."""
        print(to_json(value) if self.as_json else clean("\n".join(lines)), flush=True)


class ModelOptions(CommandOptions):
    """The options of a command that calls a model."""

    offers = "model base_url db sets"


Options = TypeVar("Options", bound=CommandOptions)


def typer_command(run: Callable[[Options], int]) -> Callable[..., int]:
    """Make a Typer command of `run(options)`, with a parameter for each field."""
    model: type[Options] = get_type_hints(run)["options"]
    hints = get_type_hints(model)

    def command(**values: Any) -> int:
        options = model(**values)
        _begin(options.debug)
        return run(options)

    def parameter(name: str) -> inspect.Parameter:
        field = model.model_fields[name]
        extra: Any = dict(field.json_schema_extra)  # type: ignore[arg-type]
        names = extra.pop("names", None)
        if names is None:
            info = typer.Argument(help=field.description, **extra)
        else:
            flags = names or [f"--{name.replace('_', '-')}"]
            info = typer.Option(*flags, help=field.description, **extra)
        default = inspect.Parameter.empty if field.is_required() else field.default
        annotation = Annotated[hints[name], info]  # type: ignore[valid-type]
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

    classes = [kind for kind in model.__mro__ if issubclass(kind, CommandOptions)]
    own = [name for kind in classes for name in kind.__annotations__ if name in model.model_fields]
    shared = [name for kind in classes for name in vars(kind).get("offers", "").split()]
    names = dict.fromkeys((*own, *shared, *["as_json"] * model.prints_json, "debug"))
    command.__name__, command.__doc__ = run.__name__, run.__doc__
    command.__signature__ = inspect.Signature(list(map(parameter, names)))  # type: ignore[attr-defined]
    return command


def _begin(debug: bool) -> None:
    """Load the files of settings and set up logging, as every command does first."""
    enable_debug(debug)
    from forethought.telemetry.logs import configure

    load_dotenv(Path.cwd())
    configure(os.environ)
    enable_debug(debug)


def user_file() -> Path:
    """The user's own settings, which `forethought config` writes."""
    return platformdirs.user_config_path("forethought") / "config.env"


def load_dotenv(folder: Path) -> None:
    """Load `folder`/.env, and the user's own file below it, into the environment, which takes precedence."""
    from dotenv import dotenv_values
    from dotenv import load_dotenv as load

    path = folder / ".env"
    try:
        load(path, encoding="utf-8-sig")
        path = user_file()
        own = dotenv_values(path, interpolate=False)
    except UnicodeDecodeError as error:
        raise CliError(f"{path} is not UTF-8 text: save it as UTF-8") from error
    address = own.get("FORETHOUGHT_BASE_URL")
    if os.environ.get("FORETHOUGHT_BASE_URL", address) != address:
        # A key goes with its address: a folder's .env cannot have it sent elsewhere.
        own.pop("FORETHOUGHT_API_KEY", None)
    for name, value in own.items():
        os.environ.setdefault(name, value or "")
