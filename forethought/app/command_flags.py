"""The flags that several commands take, commands made from a model of their flags, and how each begins."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer
from typer.models import ParameterInfo

from forethought.app.errors import echo, enable_debug
from forethought.app.options import Flags, load_dotenv, unknown_variables
from forethought.app.text import clean, to_json

Model = Annotated[
    str | None, typer.Option("--model", help="Model of every role, as provider:name.", metavar="M")
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", help="Address of an OpenAI-compatible endpoint.", metavar="URL")
]
Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        help="Database of threads: a path, sqlite:///path or postgresql://user@host/db.",
        metavar="URL",
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A setting of the run, such as max_steps=10 (README.md lists them); may be repeated.",
        metavar="KEY=VALUE",
    ),
]
Tools = Annotated[
    str | None,
    typer.Option("--tools", help="Module whose functions are offered as tools too.", metavar="MODULE"),
]
Checkers = Annotated[
    list[str] | None,
    typer.Option(
        "--checker",
        help="A function that tasks may name as their judge; may be repeated.",
        metavar="MODULE:NAME",
    ),
]
Environment = Annotated[
    str | None,
    typer.Option(
        "--environment", help="Where a trajectory is run again: what makes it.", metavar="MODULE:NAME"
    ),
]
AllowWrites = Annotated[
    bool,
    typer.Option("--allow-writes", help="Run again though steps of the run changed something outside."),
]
Record = Annotated[
    Path | None, typer.Option("--record", help="Write the model's replies to FILE.", metavar="FILE")
]
Replay = Annotated[
    Path | None, typer.Option("--replay", help="Take the model's replies from FILE.", metavar="FILE")
]
Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON on stdout; all else goes to stderr.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Log the traceback of an error.")]
ThreadId = Annotated[str, typer.Argument(help="The thread's id, as `threads` lists it.", metavar="THREAD")]


def begin(debug: bool) -> None:
    """Load .env and set up logging, as every command does first."""
    enable_debug(debug)
    from forethought.telemetry.logs import configure

    load_dotenv(Path.cwd())
    configure(os.environ)
    enable_debug(debug)
    for line in unknown_variables(os.environ):
        echo(line)


class CommandOptions(Flags):
    """The flags and arguments of a command: the fields that it annotates as Typer wants them."""

    as_json: Json = False
    debug: Debug = False

    def print_result(self, value: Any, lines: Sequence[str]) -> None:
        """Print the value where --json asks for it, else the lines."""
        print(to_json(value) if self.as_json else clean("\n".join(lines)), flush=True)


class ModelOptions(CommandOptions):
    """The options of a command that calls a model."""

    model: Model = None
    base_url: BaseUrl = None
    db: Db = None
    sets: Sets = None


Options = TypeVar("Options", bound=CommandOptions)


def typer_command(run: Callable[[Options], int]) -> Callable[..., int]:
    """Make a Typer command of `run(options)`, with a flag for each field of the options model."""
    model: type[Options] = get_type_hints(run)["options"]
    hints = get_type_hints(model, include_extras=True)

    def command(**values: Any) -> int:
        options = model(**values)
        begin(options.debug)
        return run(options)

    def parameter(name: str) -> inspect.Parameter:
        field = model.model_fields[name]
        default = inspect.Parameter.empty if field.is_required() else field.default
        return inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[name]
        )

    # `--help` lists a command's own flags before those that it shares.
    declared = [name for kind in model.__mro__ for name in vars(kind).get("__annotations__", {})]
    names = [name for name in dict.fromkeys(declared) if _is_offered(hints[name])]
    command.__name__, command.__doc__ = run.__name__, run.__doc__
    command.__signature__ = inspect.Signature(list(map(parameter, names)))  # type: ignore[attr-defined]
    return command


def _is_offered(hint: Any) -> bool:
    """Whether a field is a flag or an argument of the command."""
    return any(isinstance(part, ParameterInfo) for part in getattr(hint, "__metadata__", ()))
