"""The flags of `submit`, `worker` and `jobs`. What they do is in the modules that each of them calls."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forethought.app.command_flags import BaseUrl, Debug, Json, Model, Sets, Tools, begin

Db = Annotated[
    str | None,
    typer.Option("--db", help="Database that all machines share: postgresql://user@host/db.", metavar="URL"),
]
Name = Annotated[
    str, typer.Option("--queue", help="Name of the queue; a worker takes the jobs of one.", metavar="NAME")
]
Batch = Annotated[str | None, typer.Option("--batch", help="Of this batch only.", metavar="ID")]


def submit(
    tasks: Annotated[
        Path,
        typer.Argument(
            help="JSON Lines: {task}, or {id, task, files, context, priority}, a line.", metavar="TASKS"
        ),
    ],
    db: Db = None,
    batch: Annotated[
        str | None,
        typer.Option("--batch", help="Id of the batch, to add to it; by default of its own.", metavar="ID"),
    ] = None,
    queue: Name = "default",
    priority: Annotated[
        int,
        typer.Option(
            "--priority",
            help="Higher ones are carried out first.",
            min=-1_000_000,
            max=1_000_000,
            metavar="N",
        ),
    ] = 0,
    model: Model = None,
    sets: Sets = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Put TASKS into a queue that workers on any number of machines carry out."""
    begin(debug)
    from forethought.app.batch import submitting
    from forethought.app.options import Flags

    flags = Flags(model=model, db=db, sets=tuple(sets or ()))
    return submitting.submit(tasks, flags, submitting.Asked(batch, queue, priority), as_json)


def worker(
    db: Db = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", help="Jobs side by side.", min=1, max=256, metavar="N")
    ] = 4,
    queue: Name = "default",
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="End once no job of the queue is open any more.")
    ] = False,
    attempts: Annotated[
        int, typer.Option("--attempts", help="How often a job is begun at most.", min=1, max=100, metavar="N")
    ] = 5,
    requests_per_minute: Annotated[
        int | None,
        typer.Option("--requests-per-minute", help="Limit of a model, over all workers.", min=1, metavar="N"),
    ] = None,
    tokens_per_minute: Annotated[
        int | None,
        typer.Option("--tokens-per-minute", help="Limit of a model, over all workers.", min=1, metavar="N"),
    ] = None,
    base_url: BaseUrl = None,
    tools: Tools = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Carry out the jobs of a queue; start one on each machine. SIGTERM ends it with nothing lost."""
    begin(debug)
    from forethought.app.batch import working
    from forethought.app.options import Flags

    asked = working.Asked(concurrency, queue, until_empty, attempts, requests_per_minute, tokens_per_minute)
    return working.work(Flags(base_url=base_url, db=db, tools=tools), asked, as_json)


def jobs(
    db: Db = None,
    batch: Batch = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", help="Write the results as JSON Lines; - is stdout.", metavar="FILE"),
    ] = None,
    cancel: Annotated[
        list[str] | None,
        typer.Option("--cancel", help="Cancel the job of this thread; may be repeated.", metavar="ID"),
    ] = None,
    cancel_all: Annotated[
        bool, typer.Option("--cancel-all", help="Cancel all that are open (of --batch).")
    ] = False,
    retry: Annotated[
        bool,
        typer.Option("--retry", help="Take up again what failed, and what a person has replied to since."),
    ] = False,
    cancelled: Annotated[
        bool, typer.Option("--cancelled", help="With --retry: what was cancelled too.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Show how far the jobs are and what they cost; cancel, take up again, or write their results."""
    begin(debug)
    from forethought.app.batch import jobs as queue_jobs
    from forethought.app.options import Flags

    asked = queue_jobs.Asked(batch, results, tuple(cancel or ()), cancel_all, retry, cancelled)
    return queue_jobs.jobs(Flags(db=db), asked, as_json)
