"""eval run: methods on a benchmark, with an estimate of what it costs, caps, and going on where it was."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.text import Text

from forethought.app.agreeing import agreed
from forethought.app.display import make_console
from forethought.app.errors import (
    ANSWERED,
    DRAINED,
    FAILED,
    INTERRUPTED,
    NOT_PASSED,
    WAITS,
    CliError,
    explain,
)
from forethought.app.eval.commands import EvalOptions
from forethought.app.eval.plan import plan_evaluation
from forethought.app.eval.report import show
from forethought.app.holding import claimed_threads, held
from forethought.app.leaving import event_loop
from forethought.app.progress import Bar, cost_line
from forethought.app.tell import tell, tell_error
from forethought.app.text import one_line, to_json
from forethought.collecting.estimate import Cost
from forethought.draining import Drain, Drained, on_sigterm
from forethought.evals.harness.control import Control
from forethought.evals.harness.cost import expected, spent_on
from forethought.evals.harness.folder import RunFolder
from forethought.evals.harness.inspect_model import InspectTransport
from forethought.evals.harness.plan import (
    EvaluationPlan,
)
from forethought.evals.harness.running import run_methods, train
from forethought.evals.harness.trial import EvaluationRun
from forethought.evals.report.write import summary_of, write_tables
from forethought.evals.results import Result, read_evaluation
from forethought.evals.types import Method
from forethought.models.live import LiveTransport
from forethought.secrecy import scrubber
from forethought.settings import Settings
from forethought.storage.address import file_address

OpenRuns = list[tuple[Method, list[tuple[str, int]]]]
"""Of each method: the samples and trials that are to be run."""
_LISTED = 10


@dataclass
class EvalSession:
    """An evaluation under way."""

    options: EvalOptions
    run: EvaluationRun
    control: Control
    console: Console
    loop: asyncio.Runner
    drain: Drain
    results: dict[tuple[str, str, int], Result]
    """The last result of each method, sample and trial."""
    learned: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    estimate: Cost | None = None

    @property
    def open(self) -> OpenRuns:
        """What has no score yet, all first trials before all second ones."""
        plan = self.run.plan
        keys = [(sample.id, trial) for trial in range(1, plan.trials + 1) for sample in plan.samples]
        tried = {key for key, result in self.results.items() if result.tried}
        return [
            (method, [key for key in keys if (method.name, *key) not in tried]) for method in plan.methods
        ]

    @property
    def left(self) -> int:
        """How many runs are open."""
        return sum(len(keys) for _, keys in self.open)

    @property
    def tried(self) -> set[str]:
        """The methods with a run that is over."""
        return {result.method for result in self.results.values() if result.tried}

    @property
    def untrained(self) -> list[Method]:
        """Methods that must learn before they can be run."""
        return [
            method
            for method, keys in self.open
            if keys and method.needs_training and method.name not in self.learned
        ]

    def spent(self) -> Cost:
        """What it took so far."""
        return spent_on(list(self.results.values()), self.run.spent.usage)

    def carry_out(self) -> bool:
        """Try one sample with each method, estimate, learn, run the rest; False where it is not to go on.

        Raises Drained, and what stopped it all.
        """
        self._read_learned()
        waiting = {method.name for method in self.untrained}
        pilots = [(method, keys[:1]) for method, keys in self.open if method.name not in self.tried | waiting]
        self._run_all(pilots, "first runs")
        if not self.left or (self.control.capped and not self.tried):
            return True
        self._tell_estimate()
        interactive = not self.options.as_json and sys.stdin.isatty() and sys.stdout.isatty()
        with self.drain.idle():
            if not self.options.yes and not (interactive and agreed("go on? [Y/n]")):
                return False
        self._learn()
        waiting = {method.name for method in self.untrained}
        self._run_all([item for item in self.open if item[0].name not in waiting], "runs")
        return True

    def _tell_estimate(self) -> None:
        """Tell what it will cost. Raises CliError when no run has come to a score to tell it from."""
        left = Counter({method.name: len(keys) for method, keys in self.open})
        left.update({method.name: len(self.run.plan.training) for method in self.untrained})
        try:
            self.estimate = expected(list(self.results.values()), left, self.run.spent.usage)
        except ValueError:
            failed = next((result.error for result in self.results.values() if result.error), "")
            why = failed or "every method has to learn first: add one that does not, such as react"
            line = f"no run came to a score, so nothing can be estimated: {one_line(why, 500)}"
            raise CliError(line, FAILED) from None
        self.console.print(f"so far {cost_line(self.spent())}; estimate for all {cost_line(self.estimate)}")

    def _run_all(self, open: OpenRuns, what: str) -> None:
        """Carry out `open` under a progress bar that tells the cost so far. Raises Drained: what was under
        way has ended, or was broken off when its time was up."""
        count = sum(len(keys) for _, keys in open)
        if not count:
            return
        with Bar(self.console, what, count) as bar:

            def finished(result: Result) -> None:
                self.results[result.method, result.sample, result.trial] = result
                bar.tick(_result_line(result), self.spent())

            work = run_methods(self.run, open, self.learned, self.control, self.options.parallel, finished)
            self.loop.run(self.drain.finish(work, self.run.settings.drain_s))
        if self.drain.requested:
            raise Drained

    def _read_learned(self) -> None:
        plan = self.run.plan
        for method in plan.methods:
            record = self.run.folder.learned(method.name) if method.needs_training else None
            if record is None:
                continue
            learned_from = set(record.get("samples", ()))
            if overlap := {sample.id for sample in plan.samples} & learned_from:
                raise CliError(
                    f"{method.name} has learned from {min(overlap)}, which is to be evaluated: give a "
                    "smaller --limit, or another --out"
                )
            if learned_from != {sample.id for sample in plan.training}:
                raise CliError(
                    f"{method.name} has learned from other samples: give the --train and --train-option that "
                    "it was begun with, or another --out"
                )
            self.learned[method.name] = record["learned"]

    def _learn(self) -> None:
        """Have each method learn that must, where the caps allow it. Raises Drained."""
        for method in self.untrained:
            if not self.control.affordable():
                return
            self.console.print(f"{method.name} learns from {len(self.run.plan.training)} samples")
            work = self.drain.finish(train(self.run, method), self.run.settings.drain_s)
            self.learned[method.name] = self.loop.run(work)
            if self.drain.requested:
                raise Drained

    def show(self, waits: bool) -> dict[str, Any]:
        """Write table.md and results.json, and show them, what is to be mended, and where to look on. Returns
        it all as plain JSON. Raises OSError."""
        root = self.run.folder.root
        evaluation = read_evaluation(root)
        figures = write_tables(evaluation, summary_of(self.run.plan.benchmark))
        if not self.options.as_json:
            show(evaluation.run, figures)
        failed = self._failed()
        lines = [f"not tried: {name}: {one_line(why, 300)}" for name, why in list(failed.items())[:_LISTED]]
        if len(failed) > _LISTED:
            lines.append(f"not tried: {len(failed) - _LISTED} more")
        if self.control.capped:
            lines.append(f"the cap is reached: {self.left} runs have no score yet")
        for line in lines:
            self.console.print(Text(line, style="yellow"))
        self.console.print(Text(f"logs: inspect view --log-dir {shlex.quote(str(root))}/logs"))
        self.console.print(Text(f"report: forethought eval report {shlex.quote(str(root))}"))
        return {
            "out": str(root),
            "status": "waits" if waits else "incomplete" if self.left else "finished",
            "open": self.left,
            "failed": failed,
            "capped": self.control.capped,
            "cost": self.spent().as_json(),
            "estimate": self.estimate.as_json() if self.estimate else None,
            **figures.as_json(),
        }

    def _failed(self) -> dict[str, str]:
        """Why each run that is asked for could not be tried."""
        return {
            f"{method.name}--{sample}--{trial}": result.error
            for method, keys in self.open
            for sample, trial in keys
            if (result := self.results.get((method.name, sample, trial)))
        }


def evaluate(options: EvalOptions) -> int:
    """Run an evaluation, or go on with it. Returns the exit code. Raises CliError."""
    settings, plan = plan_evaluation(options)
    drain = Drain()
    with on_sigterm(drain), event_loop() as loop, _opened(loop, options, settings, plan, drain) as session:
        error: Exception | None = None
        drained: Drained | None = None
        waits = False
        try:
            waits = not session.carry_out()
        except Drained as stop:
            drained = stop
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise CliError("interrupted; the same command goes on with it", INTERRUPTED) from None
        except Exception as failure:
            if explain(failure).internal and session.control.error is None:
                raise
            error = failure
        if error is None or session.tried:
            record = session.show(waits)
            if options.as_json:
                print(to_json(record), flush=True)
        return _tell_end(session, error, drained, waits)


def _tell_end(session: EvalSession, error: Exception | None, drained: Drained | None, waits: bool) -> int:
    """Tell how it ended, and how it goes on. Returns the exit code."""
    if error is not None:
        code = FAILED
        if explain(error).internal:
            # An evaluation is stopped by failures in a row, whatever their kind.
            failures = f"{session.control.fail_after} failures in a row"
            tell(f"stopped after {failures}, the last: {one_line(error, 500)}")
        else:
            code = tell_error(error)
        if session.results:
            tell("what was done is kept; the same command goes on with it")
        return code
    if drained and session.left:
        tell(f"{drained}; the same command goes on with it")
        return DRAINED
    if waits:
        tell("nothing further was run; go on with the same command and --yes")
        return WAITS
    if session.left:
        higher = " with a higher cap" if session.control.capped else ""
        tell(f"the same command{higher} runs what is missing")
        return NOT_PASSED
    return ANSWERED


def _result_line(result: Result) -> str:
    """A finished run in a few words."""
    score = f"{result.score:.2f}" if result.score is not None else result.label or "not tried"
    why = one_line(result.error, 120) if result.error else result.status
    return f"{result.method} {result.sample}--{result.trial}: {score} ({why})"


@contextmanager
def _opened(
    loop: asyncio.Runner, options: EvalOptions, settings: Settings, plan: EvaluationPlan, drain: Drain
) -> Iterator[EvalSession]:
    """The evaluation's folder, held for this process over several runs of the loop."""
    folder = RunFolder(options.folder)
    folder.root.mkdir(parents=True, exist_ok=True)
    opening = claimed_threads(file_address(folder.database), settings.key, "evaluation")
    with held(loop, opening) as saver:
        try:
            evaluation = folder.open(plan)
            spent = folder.ledger()
        except ValueError as error:
            raise CliError(one_line(error, 1000)) from error
        control = Control(
            asyncio.Semaphore(options.parallel),
            spent,
            options.max_usd,
            options.max_tokens_total,
            options.fail_after,
            stopping=lambda: drain.requested,
        )
        transport = InspectTransport(LiveTransport(settings), scrubber(settings))
        run = EvaluationRun(plan, settings, transport, saver, folder, spent)
        results = {(result.method, result.sample, result.trial): result for result in evaluation.results}
        console = make_console(sys.stderr if options.as_json else sys.stdout)
        yield EvalSession(options, run, control, console, loop, drain, results)
