"""The commands and their flags. What they do is in the module that each one calls, loaded only then."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forethought.app.batch import jobs, submit, worker
from forethought.app.collect import collect
from forethought.app.command_flags import (
    AllowWrites,
    BaseUrl,
    CommandOptions,
    Db,
    Environment,
    ModelOptions,
    Record,
    Replay,
    ThreadId,
    Tools,
    typer_command,
)
from forethought.app.debug.command import debug
from forethought.app.distill import distill
from forethought.app.eval.commands import eval_app
from forethought.app.lessons import lessons_app
from forethought.app.synthesize import synthesize
from forethought.app.train import train_app

app = typer.Typer(
    name="forethought",
    help="An agent that criticises its plan before it acts, scores each move, re-plans, and learns from "
    "failures.",
    epilog="Exit codes: 0 answered (or stopped by SIGTERM), 1 failed, 2 wrong use (or a refused key or "
    "model, or a spent quota), 3 an answer that did not pass, 4 waits for a person, 130 interrupted by "
    "Ctrl-C.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(train_app, name="train")
app.add_typer(lessons_app, name="lessons")
app.add_typer(eval_app, name="eval")
app.command()(typer_command(collect))
app.command()(typer_command(distill))
app.command()(typer_command(synthesize))
app.command()(typer_command(submit))
app.command()(typer_command(worker))
app.command()(typer_command(jobs))
app.command()(typer_command(debug))


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"forethought {version('forethought')}")
        except PackageNotFoundError:
            typer.echo("forethought (not installed)")
        raise typer.Exit


@app.callback()
def _app(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


class RunOptions(ModelOptions):
    """The flags of `run`."""

    task: Annotated[
        str | None, typer.Argument(help="What is asked; - reads it from stdin.", metavar="TASK")
    ] = None
    files: Annotated[
        list[Path] | None,
        typer.Option("--file", "-f", help="A file for the task; may be repeated.", metavar="F"),
    ] = None
    thread: Annotated[
        str | None, typer.Option("--thread", help="Go on with this thread, or create it.", metavar="ID")
    ] = None
    tools: Tools = None
    record: Record = None
    replay: Replay = None
    demo: Annotated[
        bool, typer.Option("--demo", help="Run the packaged example with recorded model replies.")
    ] = False


class ResumeOptions(ModelOptions):
    """The flags of `resume`."""

    thread: ThreadId
    reply: Annotated[
        list[str] | None,
        typer.Option(
            "--reply",
            help="Answer to what waits: text, `approve`, `reject: reason`, or JSON {decision, value, "
            "reason}; ID= before it where several wait.",
            metavar="[ID=]VALUE",
        ),
    ] = None
    tools: Tools = None
    environment: Environment = None
    allow_writes: AllowWrites = False
    record: Record = None
    replay: Replay = None


class ForkOptions(ModelOptions):
    """The flags of `fork`."""

    thread: ThreadId
    before: Annotated[
        int, typer.Option("--before", help="Number of the step to do again.", min=1, metavar="N")
    ]
    guidance: Annotated[
        str,
        typer.Option("--guidance", help="A correction that every role sees from there on.", metavar="TEXT"),
    ] = ""
    tools: Tools = None


class ThreadsOptions(CommandOptions):
    """The flags of `threads`."""

    limit: Annotated[int, typer.Option("--limit", help="How many, newest first.", min=1, metavar="N")] = 50
    every: Annotated[bool, typer.Option("--all", help="Debuggings (`forethought debug`) too.")] = False
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete old threads for good, with what only they use.")
    ] = False
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than", help="With --prune: last written to so long ago (m, h, d, w).", metavar="30d"
        ),
    ] = None
    status: Annotated[
        str | None,
        typer.Option(
            "--status",
            help="With --prune: of these statuses, by default answered,best_effort,budget_exhausted.",
            metavar="S,...",
        ),
    ] = None
    keep: Annotated[
        int, typer.Option("--keep", help="With --prune: the newest N stay.", min=0, metavar="N")
    ] = 0
    keep_files: Annotated[bool, typer.Option("--keep-files", help="With --prune: stored files stay.")] = False
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --prune: do not ask.")] = False
    db: Db = None


class ShowOptions(CommandOptions):
    """The flags of `show`."""

    thread: ThreadId
    steps: Annotated[
        bool, typer.Option("--steps", help="Whole observations, and the thread's checkpoints.")
    ] = False
    branches: Annotated[
        bool, typer.Option("--branches", help="List the thread's branches instead: forks and re-runs.")
    ] = False
    diff: Annotated[
        str | None,
        typer.Option(
            "--diff",
            help="Show instead how the thread's head differs from another branch: its number or its id.",
            metavar="BRANCH",
        ),
    ] = None
    db: Db = None


class DoctorOptions(CommandOptions):
    """The flags of `doctor`."""

    db: Db = None
    base_url: BaseUrl = None


@app.command()
@typer_command
def run(options: RunOptions) -> int:
    """Carry out TASK and print the answer."""
    if options.demo:
        from forethought.app.demo import run_demo

        return run_demo(options)
    from forethought.app.run import run_task

    return run_task(options)


@app.command()
@typer_command
def resume(options: ResumeOptions) -> int:
    """Go on with a thread that was broken off, that failed, or that waits for a reply.

    What it was run with is kept, but for what may run code or say where a key goes: --tools and --base-url
    (unless the environment has them), and a debugging's --environment and --allow-writes, are given again.
    """
    from forethought.app.run import resume

    return resume(options)


@app.command()
@typer_command
def fork(options: ForkOptions) -> int:
    """Go back to before a step and run on from there; what was done before it is not done again."""
    from forethought.app.run import fork

    return fork(options)


@app.command()
@typer_command
def threads(options: ThreadsOptions) -> int:
    """List the threads, newest first; or delete old ones."""
    if options.prune:
        from forethought.app.threads.prune import prune

        return prune(options)
    from forethought.app.threads.threads import threads

    return threads(options)


@app.command()
@typer_command
def show(options: ShowOptions) -> int:
    """Show what a thread did: plan, reviews, steps, re-plans, answer and cost."""
    from forethought.app.threads.show import show

    return show(options)


@app.command()
@typer_command
def doctor(options: DoctorOptions) -> int:
    """Check this installation: packages, database, keys, sandbox."""
    from forethought.app.doctor import report_health

    return report_health(options, options.as_json)
