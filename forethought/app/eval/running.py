"""eval run: methods on a benchmark, with an estimate of what it costs, caps, and going on where it was."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from forethought.app.agreeing import agreed
from forethought.app.display import Bar, cost_line, make_console
from forethought.app.errors import (
    ANSWERED,
    DRAINED,
    FAILED,
    INTERRUPTED,
    NOT_PASSED,
    WAITS,
    CliError,
    echo,
    echo_error,
    explain,
)
from forethought.app.eval.choosing import choose
from forethought.app.eval.display import result_line, show_ended
from forethought.app.eval.state import Asked, Open, Underway
from forethought.app.holding import claimed_threads, held
from forethought.app.leaving import event_loop
from forethought.app.options import Flags
from forethought.app.text import one_line, to_json
from forethought.evals.harness.choices import Choices
from forethought.evals.harness.control import Control, Gate
from forethought.evals.harness.folder import RunFolder
from forethought.evals.harness.trial import Bench
from forethought.evals.results import Result
from forethought.models.live import LiveTransport
from forethought.redaction import redactor
from forethought.settings import Settings
from forethought.shutdown import Halt, Shutdown, on_sigterm
from forethought.storage.address import file_address


def evaluate(asked: Asked, flags: Flags, as_json: bool) -> int:
    """Run an evaluation, or go on with it. Returns the exit code. Raises CliError."""
    console = make_console(sys.stderr if as_json else sys.stdout)
    interactive = not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    settings, choices = choose(asked, flags)
    drain = Shutdown()
    with (
        on_sigterm(drain),
        event_loop() as loop,
        _opened(loop, asked, settings, choices) as (bench, found),
    ):
        control = Control(
            Gate(asked.parallel),
            bench.spent,
            asked.max_usd,
            asked.max_tokens_total,
            asked.fail_after,
            stopping=lambda: drain.requested,
        )
        results = {(result.method, result.sample, result.trial): result for result in found}
        underway = Underway(asked, bench, control, console, interactive, results)
        return _driven(loop, underway, as_json, drain)


def _driven(loop: asyncio.Runner, underway: Underway, as_json: bool, drain: Shutdown) -> int:
    """Run it all, and report."""
    error: Exception | None = None
    stopped: Halt | None = None
    waits = False
    try:
        waits = not _carry_out(loop, underway, drain)
    except Halt as drained:
        stopped = drained
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise CliError("interrupted; the same command goes on with it", INTERRUPTED) from None
    except Exception as failure:
        if explain(failure).internal and underway.control.error is None:
            raise
        error = failure
    if error is not None and not underway.tried:
        return _stopped(error, underway)
    told = show_ended(underway, waits, as_json)
    if as_json:
        print(to_json(told), flush=True)
    if error is not None:
        return _stopped(error, underway)
    if stopped and underway.left:
        echo(f"{stopped}; the same command goes on with it")
        return DRAINED
    if waits:
        echo("nothing further was run; go on with the same command and --yes")
        return WAITS
    if underway.left:
        higher = " with a higher cap" if underway.control.capped else ""
        echo(f"the same command{higher} runs what is missing")
        return NOT_PASSED
    return ANSWERED


def _stopped(error: Exception, underway: Underway) -> int:
    """What stopped it all, in a line."""
    known = not explain(error).internal
    code = echo_error(error) if known else FAILED
    if not known:
        # An evaluation is stopped by failures in a row, whatever their kind.
        echo(
            f"stopped after {underway.control.fail_after} failures in a row, the last: {one_line(error, 500)}"
        )
    if underway.results:
        echo("what was done is kept; the same command goes on with it")
    return code


def _carry_out(loop: asyncio.Runner, underway: Underway, drain: Shutdown) -> bool:
    """Try one sample with each method, estimate, learn, run the rest; False where it is not to go on.

    Raises Halt, and what stopped it all.
    """
    _read_learned(underway)
    if not underway.left:
        return True
    if pilots := _pilots(underway):
        _run(loop, underway, drain, pilots, "first runs")
    if not underway.left or (underway.control.capped and not underway.tried):
        return True
    _estimate(underway)
    with drain.idle():
        if not underway.asked.yes and not (underway.interactive and agreed("go on? [Y/n]")):
            return False
    _learn(loop, underway, drain)
    waiting = {method.name for method in underway.untrained()}
    _run(loop, underway, drain, [item for item in underway.open if item[0].name not in waiting], "runs")
    return True


def _pilots(underway: Underway) -> Open:
    """The first open run of each method that has no score yet; one that must learn first has to wait."""
    tried = {result.method for result in underway.results.values() if result.tried}
    waiting = {method.name for method in underway.untrained()}
    return [
        (method, keys[:1]) for method, keys in underway.open if keys and method.name not in tried | waiting
    ]


def _estimate(underway: Underway) -> None:
    """Tell what it will cost. Raises CliError when no run has come to a score to tell it from."""
    try:
        underway.estimate = underway.expect()
    except ValueError:
        failed = next((result.error for result in underway.results.values() if result.error), "")
        why = failed or "every method has to learn first: add one that does not, such as react"
        raise CliError(
            f"no run came to a score, so nothing can be estimated: {one_line(why, 500)}", FAILED
        ) from None
    underway.console.print(
        f"so far {cost_line(underway.spent())}; estimate for all {cost_line(underway.estimate)}"
    )


def _run(loop: asyncio.Runner, underway: Underway, drain: Shutdown, open: Open, what: str) -> None:
    """Carry out `open` under a progress bar that tells the cost so far. Raises Halt: what was under way
    has ended, or was broken off when its time was up."""
    from forethought.evals.harness.running import run_methods

    with Bar(underway.console, what, sum(len(keys) for _, keys in open)) as bar:

        def finished(result: Result) -> None:
            underway.finished(result)
            bar.tick(result_line(result), underway.spent())

        work = run_methods(
            underway.bench, open, underway.learned, underway.control, underway.asked.parallel, finished
        )
        loop.run(drain.finish(work, underway.bench.settings.drain_s))
    if drain.requested:
        raise Halt


def _read_learned(underway: Underway) -> None:
    for method in underway.choices.methods:
        if method.needs_training and (kept := underway.bench.folder.learned(method.name)):
            overlap = {sample.id for sample in underway.choices.samples} & set(kept.get("samples", ()))
            if overlap:
                raise CliError(
                    f"{method.name} has learned from {min(overlap)}, which is to be evaluated: give a "
                    "smaller --limit, or another --out"
                )
            if set(kept.get("samples", ())) != {sample.id for sample in underway.choices.training}:
                raise CliError(
                    f"{method.name} has learned from other samples: give the --train and --train-option that "
                    "it was begun with, or another --out"
                )
            underway.learned[method.name] = kept["learned"]


def _learn(loop: asyncio.Runner, underway: Underway, drain: Shutdown) -> None:
    """Have each method learn that must, where the caps allow it. Raises Halt."""
    from forethought.evals.harness.running import train

    for method in underway.untrained():
        if not underway.control.affordable():
            return
        underway.console.print(f"{method.name} learns from {len(underway.choices.training)} samples")
        work = drain.finish(train(underway.bench, method), underway.bench.settings.drain_s)
        underway.learned[method.name] = loop.run(work)
        if drain.requested:
            raise Halt


@contextmanager
def _opened(
    loop: asyncio.Runner, asked: Asked, settings: Settings, choices: Choices
) -> Iterator[tuple[Bench, Sequence[Result]]]:
    """The evaluation's folder, held for this process over several runs of the loop."""
    from forethought.evals.harness.inspect_model import InspectTransport

    folder = RunFolder(asked.out)
    asked.out.mkdir(parents=True, exist_ok=True)
    opening = claimed_threads(file_address(folder.database), settings.key, "evaluation")
    with held(loop, opening) as saver:
        try:
            found = folder.open(choices)
            spent = folder.ledger()
        except ValueError as error:
            raise CliError(one_line(error, 1000)) from error
        transport = InspectTransport(LiveTransport(settings), redactor(settings))
        yield Bench(choices, settings, transport, saver, folder, spent), found.results
