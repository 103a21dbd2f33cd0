"""submit: tasks of a file into the queue."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, CliError
from forethought.app.options import Flags, context_from_flags, settings_from
from forethought.app.text import one_line, to_json


@dataclass(frozen=True)
class Asked:
    """What the command line asks for."""

    batch: str | None
    queue: str
    priority: int


def submit(path: Path, flags: Flags, asked: Asked, as_json: bool) -> int:
    """Put the tasks into the queue. Returns the exit code. Raises CliError, StorageError, FilesError."""
    from forethought.batch.opening import open_queue, postgres_of
    from forethought.batch.submitting import Submitted
    from forethought.batch.submitting import submit as put
    from forethought.batch.tasks import read_batch

    settings = settings_from(flags)
    context = context_from_flags(flags, settings)
    postgres_of(settings)

    async def run() -> Submitted:
        tasks = read_batch(path, settings.key)
        async with open_queue(settings) as queue:
            return await put(
                queue,
                tasks,
                context,
                settings,
                batch=asked.batch,
                name=asked.queue,
                priority=asked.priority,
            )

    try:
        done = asyncio.run(run())
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error
    known = f", {done.known} known already" if done.known else ""
    make_console(sys.stderr if as_json else sys.stdout).print(
        f"batch {done.id}: {done.added} of {done.tasks} tasks added{known}", highlight=False, soft_wrap=True
    )
    if as_json:
        print(to_json(asdict(done)), flush=True)
    return ANSWERED
