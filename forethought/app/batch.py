"""submit, worker and jobs: a queue of tasks that many machines work off."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forethought.app.command_flags import BaseUrl, CommandOptions, Model, Sets, Tools
from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, INTERRUPTED, CliError, echo
from forethought.app.options import context_of, settings_from
from forethought.app.text import one_line, to_json
from forethought.state.context import Context
from forethought.text import sanitize_text

if TYPE_CHECKING:
    from forethought.batch import Queue

Db = Annotated[
    str | None,
    typer.Option("--db", help="Database that all machines share: postgresql://user@host/db.", metavar="URL"),
]
Name = Annotated[
    str, typer.Option("--queue", help="Name of the queue; a worker takes the jobs of one.", metavar="NAME")
]
_LISTED = 5


class SubmitOptions(CommandOptions):
    """The flags of `submit`."""

    tasks: Annotated[
        Path,
        typer.Argument(
            help="JSON Lines: {task}, or {id, task, files, context, priority}, a line.", metavar="TASKS"
        ),
    ]
    batch: Annotated[
        str | None,
        typer.Option("--batch", help="Id of the batch, to add to it; by default of its own.", metavar="ID"),
    ] = None
    queue: Name = "default"
    priority: Annotated[
        int,
        typer.Option(
            "--priority",
            help="Higher ones are carried out first.",
            min=-1_000_000,
            max=1_000_000,
            metavar="N",
        ),
    ] = 0
    db: Db = None
    model: Model = None
    sets: Sets = None


class WorkerOptions(CommandOptions):
    """The flags of `worker`."""

    concurrency: Annotated[
        int, typer.Option("--concurrency", help="Jobs side by side.", min=1, max=256, metavar="N")
    ] = 4
    queue: Name = "default"
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="End once no job of the queue is open any more.")
    ] = False
    attempts: Annotated[
        int, typer.Option("--attempts", help="How often a job is begun at most.", min=1, max=100, metavar="N")
    ] = 5
    requests_per_minute: Annotated[
        int | None,
        typer.Option("--requests-per-minute", help="Limit of a model, in this worker.", min=1, metavar="N"),
    ] = None
    db: Db = None
    base_url: BaseUrl = None
    tools: Tools = None


class JobsOptions(CommandOptions):
    """The flags of `jobs`."""

    batch: Annotated[str | None, typer.Option("--batch", help="Of this batch only.", metavar="ID")] = None
    results: Annotated[
        Path | None,
        typer.Option("--results", help="Write the results as JSON Lines; - is stdout.", metavar="FILE"),
    ] = None
    cancel: Annotated[
        list[str] | None,
        typer.Option("--cancel", help="Cancel the job of this thread; may be repeated.", metavar="ID"),
    ] = None
    cancel_all: Annotated[
        bool, typer.Option("--cancel-all", help="Cancel all that are open (of --batch).")
    ] = False
    retry: Annotated[
        bool,
        typer.Option("--retry", help="Retry what failed, and what a person has replied to since."),
    ] = False
    cancelled: Annotated[bool, typer.Option("--cancelled", help="With --retry: what was cancelled too.")] = (
        False
    )
    db: Db = None


def submit(options: SubmitOptions) -> int:
    """Put TASKS into a queue that workers on any number of machines carry out."""
    from forethought.batch import Submission, open_queue, read_batch
    from forethought.batch import submit as submit_tasks
    from forethought.batch.queue import postgres_address

    settings = settings_from(options)
    context = context_of(Context, options, settings)
    postgres_address(settings)

    async def run() -> Submission:
        tasks = read_batch(options.tasks)
        async with open_queue(settings) as queue:
            return await submit_tasks(
                queue,
                tasks,
                context,
                settings,
                batch=options.batch,
                name=options.queue,
                priority=options.priority,
            )

    try:
        done = asyncio.run(run())
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error
    known = f", {done.known} known already" if done.known else ""
    make_console(sys.stderr if options.as_json else sys.stdout).print(
        f"batch {done.id}: {done.added} of {done.tasks} tasks added{known}", highlight=False, soft_wrap=True
    )
    if options.as_json:
        print(to_json(asdict(done)), flush=True)
    return ANSWERED


def worker(options: WorkerOptions) -> int:
    """Carry out the jobs of a queue; start one on each machine. SIGTERM ends it with nothing lost."""
    from forethought.app.batch_view import WorkerLog
    from forethought.batch import open_queue, work
    from forethought.batch import worker as workers
    from forethought.batch.job import Retries
    from forethought.batch.queue import postgres_address
    from forethought.batch.submit import check_queue
    from forethought.shutdown import on_sigterm
    from forethought.tools.registry import toolbox

    settings = settings_from(options)
    if options.requests_per_minute is not None:
        settings = settings.model_copy(update={"requests_per_minute": options.requests_per_minute})
    address = postgres_address(settings)
    try:
        check_queue(options.queue)
        toolbox(settings)
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error
    log = WorkerLog(make_console(sys.stderr if options.as_json else sys.stdout))
    shutdown = workers.WorkerShutdown()

    async def run() -> Counter[str]:
        async with open_queue(settings) as queue:
            log.line(f"queue {options.queue} of {address.shown}: {options.concurrency} jobs side by side")
            chosen = workers.WorkerOptions(
                concurrency=options.concurrency,
                name=options.queue,
                until_empty=options.until_empty,
                retries=Retries(most=options.attempts),
                on_ended=log.ended,
                on_put_back=log.put_back,
            )
            return await work(queue, settings, chosen, shutdown=shutdown)

    back = "jobs that were not done are in the queue again"
    with on_sigterm(shutdown):
        try:
            ended = asyncio.run(run())
        except KeyboardInterrupt:
            raise CliError(f"interrupted; {back}", INTERRUPTED) from None
        except ValueError as error:
            raise CliError(one_line(error, 1000)) from error
    if shutdown.requested:
        echo(f"stopped by SIGTERM; {back}")
    log.line(", ".join(f"{count} {outcome}" for outcome, count in sorted(ended.items())) or "no job ended")
    if options.as_json:
        print(to_json({"ended": dict(ended), "stopped": shutdown.requested}), flush=True)
    return ANSWERED


def jobs(options: JobsOptions) -> int:
    """Show how far the jobs are and what they cost; cancel, retry, or write their results."""
    from forethought.app.batch_view import failure_lines, progress_lines, write_results
    from forethought.batch import Progress, open_queue, progress_of

    if (bool(options.cancel) + options.cancel_all + options.retry) > 1:
        raise CliError("choose one of --cancel, --cancel-all and --retry")
    if options.cancelled and not options.retry:
        raise CliError("--cancelled goes with --retry")
    settings = settings_from(options)

    async def run() -> tuple[list[str], Progress]:
        async with open_queue(settings, create=False) as queue:
            if options.batch is not None:
                await _check_batch(queue, options.batch)
            lines = await _change(queue, options)
            if options.results is not None:
                lines.append(await write_results(queue, settings, options.batch, options.results))
            progress = await progress_of(queue, options.batch)
            lines += progress_lines(progress) + await failure_lines(queue, options.batch, progress)
            return lines, progress

    lines, progress = asyncio.run(run())
    to_stderr = options.as_json or str(options.results) == "-"
    console = make_console(sys.stderr if to_stderr else sys.stdout)
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if options.as_json:
        print(to_json(progress.to_json()), flush=True)
    return ANSWERED


async def _check_batch(queue: Queue, batch: str) -> None:
    query = "SELECT 1 FROM forethought_jobs WHERE batch = ? LIMIT 1"
    # A command line need not be UTF-8, as a database wants it.
    if sanitize_text(batch) != batch or not await queue.rows(query, (batch,)):
        raise CliError(f"no batch {one_line(sanitize_text(batch), 40)} in {queue.address.shown}")


async def _change(queue: Queue, options: JobsOptions) -> list[str]:
    """Cancel or retry what is asked, and tell of it."""
    from forethought.batch import cancel, retry
    from forethought.batch.changes import being_cancelled

    for thread_id in options.cancel or ():
        if sanitize_text(thread_id) != thread_id or not await cancel(queue, thread_id=thread_id):
            shown = one_line(sanitize_text(thread_id), 100)
            raise CliError(f"{shown} is no open job; give the id of its thread")
    if options.cancel:
        ending = sorted(set(await being_cancelled(queue)).intersection(options.cancel))
        ended = [thread_id for thread_id in options.cancel if thread_id not in ending]
        return [*([f"cancelled {', '.join(ended)}"] if ended else []), *_ending(ending)]
    if options.cancel_all:
        count = await cancel(queue, batch=options.batch)
        ending = await being_cancelled(queue, options.batch)
        return [f"cancelled {count - len(ending)} jobs", *_ending(ending)]
    if options.retry:
        return [f"took up {await retry(queue, batch=options.batch, cancelled=options.cancelled)} jobs again"]
    return []


def _ending(thread_ids: list[str]) -> list[str]:
    names = ", ".join(thread_ids[:_LISTED]) + " …" * (len(thread_ids) > _LISTED)
    line = f"{len(thread_ids)} are being cancelled, and end after their calls under way: {names}"
    return [line] if thread_ids else []
