"""The flags that several commands take, and what every command does first."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from forethought.app.tell import tell, want_debug

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
    want_debug(debug)
    from forethought.app.options import load_dotenv, unknown_variables
    from forethought.telemetry.logs import configure

    load_dotenv(Path.cwd())
    configure(os.environ)
    want_debug(debug)
    for line in unknown_variables(os.environ):
        tell(line)
