"""submit, worker and jobs: a queue of tasks that many machines work off."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from forethought.app.command_flags import CommandOptions, argument, flag
from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, INTERRUPTED, CliError, echo, input_errors
from forethought.app.options import context_of, settings_from
from forethought.app.text import one_line
from forethought.state.context import Context

if TYPE_CHECKING:
    from forethought.batch import Progress


class SubmitOptions(CommandOptions):
    """The flags of `submit`."""

    offers = "model sets approval_policy"

    tasks: Path = argument(help="JSON Lines of {id, task, files}.", metavar="TASKS")
    batch: str | None = flag(help="Batch to add to.", metavar="ID", show_default="new")
    db: str | None = flag(help="Postgres database.", metavar="URL")


class WorkerOptions(CommandOptions):
    """The flags of `worker`."""

    offers = "base_url tools"

    concurrency: int = flag(help="Maximum parallel jobs.", metavar="N", default=4, min=1, max=256)
    until_empty: bool = flag(help="Exit when the queue is empty.", default=False)
    attempts: int = flag(help="Maximum attempts per job.", metavar="N", default=5, min=1, max=100)
    db: str | None = flag(help="Postgres database.", metavar="URL")


class JobsOptions(CommandOptions):
    """The flags of `jobs`."""

    batch: str | None = flag(help="Only this batch.", metavar="ID")
    results: Path | None = flag(help="Write results as JSON Lines; - is stdout.", metavar="FILE")
    cancel: bool = flag("--cancel-all", help="Cancel jobs that have not started.", default=False)
    retry: bool = flag(help="Queue failed and answered jobs again.", default=False)
    db: str | None = flag(help="Postgres database.", metavar="URL")


def submit(options: SubmitOptions) -> int:
    """Queue tasks for workers."""
    from forethought.batch import Submission, open_queue, read_batch
    from forethought.batch import submit as submit_tasks

    settings = settings_from(options)
    context = context_of(Context, options, settings)

    async def run() -> Submission:
        tasks = read_batch(options.tasks)
        async with open_queue(settings) as queue:
            return await submit_tasks(queue, tasks, context, settings, batch=options.batch)

    with input_errors():
        done = asyncio.run(run())
    known = f", {done.known} already in it" if done.known else ""
    line = f"batch {done.id}: {done.added} of {done.tasks} tasks added{known}"
    options.print_result(asdict(done), [line])
    return ANSWERED


def worker(options: WorkerOptions) -> int:
    """Run queued jobs, one worker per machine. SIGTERM stops it without losing work."""
    from forethought.app.batch_view import WorkerLog
    from forethought.batch import open_queue, work
    from forethought.batch.worker import WorkerOptions as Choices
    from forethought.shutdown import Shutdown, on_sigterm

    settings = settings_from(options)
    log = WorkerLog(make_console(sys.stderr if options.as_json else sys.stdout))
    choices = Choices(
        concurrency=options.concurrency,
        until_empty=options.until_empty,
        attempts=options.attempts,
        on_ended=log.ended,
        on_put_back=log.put_back,
    )
    shutdown = Shutdown()

    async def run() -> Counter[str]:
        async with open_queue(settings) as queue:
            return await work(queue, settings, choices, shutdown=shutdown)

    back = "unfinished jobs are back in the queue"
    with on_sigterm(shutdown), input_errors():
        try:
            ended = asyncio.run(run())
        except KeyboardInterrupt:
            raise CliError(f"interrupted; {back}", INTERRUPTED) from None
    if shutdown.requested:
        echo(f"stopped by SIGTERM; {back}")
    line = ", ".join(f"{count} {outcome}" for outcome, count in sorted(ended.items())) or "no job finished"
    options.print_result({"ended": dict(ended), "stopped": shutdown.requested}, [line])
    return ANSWERED


def jobs(options: JobsOptions) -> int:
    """Show, cancel or retry jobs, or write their results."""
    from forethought.app.batch_view import failure_lines, progress_lines, write_results
    from forethought.batch import cancel, open_queue, progress_of, retry

    if options.cancel and options.retry:
        raise CliError("use either --cancel-all or --retry")
    settings, batch, lines = settings_from(options), options.batch, list[str]()

    async def run() -> Progress:
        async with open_queue(settings, create=False) as queue:
            if batch is not None and not (await progress_of(queue, batch)).total:
                raise CliError(
                    f"no batch {one_line(batch, 40)} in {queue.address.shown}: check --batch and --db"
                )
            if options.cancel:
                lines.append(f"cancelled {await cancel(queue, batch)} jobs")
            if options.retry:
                lines.append(f"queued {await retry(queue, batch)} jobs again")
            if options.results is not None:
                lines.append(await write_results(queue, settings, batch, options.results))
            progress = await progress_of(queue, batch)
            lines.extend(progress_lines(progress) + await failure_lines(queue, batch))
            return progress

    progress = asyncio.run(run())
    if str(options.results) != "-":
        options.print_result(progress.to_json(), lines)
    return ANSWERED
