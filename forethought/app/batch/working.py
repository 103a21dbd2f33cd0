"""worker: carries out the jobs of a queue until it is told to stop, or none is left."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, INTERRUPTED, CliError, echo
from forethought.app.leaving import event_loop
from forethought.app.options import Flags, settings_from
from forethought.app.text import one_line, to_json

if TYPE_CHECKING:
    from forethought.batch.outcomes import Ended
    from forethought.settings import Settings

_KEPT = "jobs that were not done are in the queue again"


@dataclass(frozen=True)
class Asked:
    """What the command line asks for."""

    concurrency: int
    queue: str
    until_empty: bool
    attempts: int
    requests_per_minute: int | None
    tokens_per_minute: int | None


def work(flags: Flags, asked: Asked, as_json: bool) -> int:
    """Carry out jobs. Returns the exit code: 0 where it was asked to stop or the queue is empty.

    Raises CliError, StorageError, ConfigurationError.
    """
    from forethought.batch.opening import open_queue, postgres_of
    from forethought.batch.outcomes import Retries
    from forethought.batch.submitting import check_queue
    from forethought.batch.worker import Choices, SharedDrain
    from forethought.batch.worker import work as carry_out
    from forethought.shutdown import on_sigterm

    settings = _settings(flags, asked)
    address = postgres_of(settings)
    try:
        check_queue(asked.queue)
    except ValueError as error:
        raise CliError(str(error)) from error
    _make_findable(settings)
    console = make_console(sys.stderr if as_json else sys.stdout)
    shown = _Shown(console)
    choices = Choices(
        concurrency=asked.concurrency,
        name=asked.queue,
        until_empty=asked.until_empty,
        retries=Retries(most=asked.attempts),
        on_ended=shown.ended,
        on_put_back=shown.put_back,
    )
    drain = SharedDrain()

    async def run() -> Counter[str]:
        async with open_queue(settings) as queue:
            shown.line(f"queue {asked.queue} of {address.shown}: {asked.concurrency} jobs side by side")
            return await carry_out(queue, settings, choices, drain=drain)

    with on_sigterm(drain), event_loop() as loop:
        try:
            ended = loop.run(run())
        except KeyboardInterrupt:
            raise CliError(
                "interrupted; jobs that were not done are in the queue again", INTERRUPTED
            ) from None
        except ValueError as error:
            raise CliError(one_line(error, 1000)) from error
    if drain.requested:
        echo(f"stopped by SIGTERM; {_KEPT}")
    shown.line(", ".join(f"{count} {outcome}" for outcome, count in sorted(ended.items())) or "no job ended")
    if as_json:
        print(to_json({"ended": dict(ended), "stopped": drain.requested}), flush=True)
    return ANSWERED


@dataclass(frozen=True)
class _Shown:
    """A line a job."""

    console: Console

    def line(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def ended(self, thread_id: str, ended: Ended, seconds: float) -> None:
        what = ended.status if ended.outcome == "done" else ended.outcome
        error = f": {one_line(ended.error, 200)}" if ended.error else ""
        usage = ended.usage
        cost = cost_of(usage.get("usd", 0), usage.get("calls", 0), usage.get("unpriced", 0))
        self.line(f"{thread_id}  {what}  {seconds:.1f} s  {cost}{error}")

    def put_back(self, thread_id: str, why: str) -> None:
        self.line(f"{thread_id}  back into the queue: {one_line(why, 200)}")


def cost_of(usd: float, calls: float, unpriced: float) -> str:
    """Dollars of the calls whose price is known, and how many others there are."""
    told = [f"{usd:.4f} USD"] if calls > unpriced or not unpriced else []
    told += [f"{unpriced:.0f} calls of unknown price"] if unpriced else []
    return " and ".join(told)


def _settings(flags: Flags, asked: Asked) -> Settings:
    settings = settings_from(flags)
    limits = {
        name: value
        for name in ("requests_per_minute", "tokens_per_minute")
        if (value := getattr(asked, name)) is not None
    }
    return settings.model_copy(update=limits)


def _make_findable(settings: Settings) -> None:
    """The module of --tools, where it lies in this folder. Raises CliError when it cannot be used."""
    from forethought.tools.registry import toolbox

    if settings.tools and str(Path.cwd()) not in sys.path:
        # Last, so that a file that happens to lie here takes no installed module's place.
        sys.path.append(str(Path.cwd()))
    try:
        toolbox(settings)
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error
