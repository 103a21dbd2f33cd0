"""The commands by their names. What each one does is in its own module, which loads the graph only then."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Annotated

import typer

from forethought.app.batch import jobs, submit, worker
from forethought.app.chat import chat
from forethought.app.collect import collect
from forethought.app.command_flags import typer_command
from forethought.app.config import config_app
from forethought.app.debug.command import debug
from forethought.app.doctor import doctor
from forethought.app.eval.commands import eval_app
from forethought.app.experience import experience_app
from forethought.app.folders import files_app
from forethought.app.learn import learn
from forethought.app.mcp import mcp
from forethought.app.run import fork, resume, run
from forethought.app.threads.show import show
from forethought.app.threads.threads import threads
from forethought.app.train import train_app
from forethought.app.trajectories import trajectories_app
from forethought.app.viewer.command import view

app = typer.Typer(
    name="forethought",
    help="An agent that criticises its plan before it acts, scores each move, re-plans, and learns from "
    "failures.",
    epilog="Exit codes: 0 answered (or stopped by SIGTERM), 1 failed, 2 wrong use (or a refused key or "
    "model, or an exhausted quota), 3 answer did not pass, 4 waiting for your reply, 130 stopped by Ctrl-C.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(train_app, name="train")
app.add_typer(config_app, name="config")
app.add_typer(experience_app, name="experience")
app.add_typer(files_app, name="files")
app.add_typer(eval_app, name="eval")
app.add_typer(trajectories_app, name="trajectories")
_ONLINE = (chat, run, resume, threads, show, view, fork, debug, learn, doctor, mcp)
for _command in (*_ONLINE, collect, submit, worker, jobs):
    app.command()(typer_command(_command))


def _print_version(wanted: bool) -> None:
    if wanted:
        try:
            typer.echo(f"forethought {installed_version('forethought')}")
        except PackageNotFoundError:
            typer.echo("forethought (not installed)")
        raise typer.Exit


@app.callback()
def _app(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass
