"""eval run: methods on a benchmark, with an estimate of what it costs, caps, and going on where it was."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.text import Text

from forethought.app.display import Bar, cost_line
from forethought.app.errors import (
    ANSWERED,
    FAILED,
    NOT_PASSED,
    WAITS,
    CliError,
    echo,
    echo_error,
    explain,
)
from forethought.app.eval.commands import EvalOptions, RunningOptions
from forethought.app.eval.plan import plan_evaluation
from forethought.app.eval.report import show
from forethought.app.runner import Ending, Runner, claimed_threads, open_runner
from forethought.app.text import one_line
from forethought.collecting.estimate import Cost
from forethought.evals.baselines.reflexion import TRIALS
from forethought.evals.harness.control import Control
from forethought.evals.harness.cost import expected, spent_on
from forethought.evals.harness.folder import RunFolder
from forethought.evals.harness.inspect_model import InspectTransport
from forethought.evals.harness.plan import EvaluationPlan
from forethought.evals.harness.running import run_methods
from forethought.evals.harness.training import pilot, train
from forethought.evals.harness.trial import EvaluationRun
from forethought.evals.report.write import summary_of, write_tables
from forethought.evals.results import Evaluation, Result, read_evaluation
from forethought.evals.types import Method
from forethought.models.live import LiveTransport
from forethought.redaction import redactor
from forethought.settings import Settings
from forethought.shutdown import Halt
from forethought.storage.address import file_address

OpenRuns = list[tuple[Method, list[tuple[str, int]]]]
"""Of each method: the samples and trials that are to be run."""
_LISTED = 10


@dataclass
class EvalSession:
    """An evaluation under way."""

    options: RunningOptions
    run: EvaluationRun
    control: Control
    runner: Runner
    results: dict[tuple[str, str, int], Result]
    """The last result of each method, sample and trial."""
    learned: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    estimate: Cost | None = None
    waits: bool = False
    """Whether a person has to agree to the estimate."""

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

    def carry_out(self) -> None:
        """Try one sample with each method, estimate, ask, learn, run the rest.

        Raises Halt, and what stopped it all.
        """
        self._read_learned()
        waiting = {method.name for method in self.untrained}
        pilots = [(method, keys[:1]) for method, keys in self.open if method.name not in self.tried | waiting]
        self._run_all(pilots, "first runs")
        if not self.left or not (self.tried or self.control.affordable()):
            return
        known = list(self.results.values())
        if waiting and not self.tried:
            known.append(self.runner.finish(pilot(self.run)))
        self._tell_estimate(known)
        if not self.options.yes and not self.runner.confirm("continue?"):
            self.waits = True
            return
        self._learn()
        waiting = {method.name for method in self.untrained}
        self._run_all([item for item in self.open if item[0].name not in waiting], "runs")

    def _tell_estimate(self, known: Sequence[Result]) -> None:
        """Tell what it will cost. Raises CliError when no run has come to a score to tell it from."""
        plan = self.run.plan
        left = {method.name: len(keys) for method, keys in self.open}
        tries = {method.name: plan.budget.tries or method.most_tries for method in self.untrained}
        for method in self.untrained:
            left[f"{method.name} in training"] = len(plan.training)
            tries[f"{method.name} in training"] = plan.budget.tries or max(method.most_tries, TRIALS)
        try:
            self.estimate = expected(known, left, self.run.spent.usage, tries)
        except ValueError:
            failed = next((result.error for result in known if result.error), "")
            line = f"no run got a score, so the cost cannot be estimated: {one_line(failed, 500)}"
            raise CliError(line, FAILED) from None
        self.runner.console.print(
            f"so far {cost_line(spent_on(known, self.run.spent.usage))}; "
            f"estimate for all {cost_line(self.estimate)}"
        )

    def _run_all(self, open: OpenRuns, what: str) -> None:
        """Carry out `open` under a progress bar that tells the cost so far. Raises Halt: what was under
        way has ended, or was broken off when its time was up."""
        count = sum(len(keys) for _, keys in open)
        if not count:
            return
        with Bar(self.runner.console, what, count) as bar:

            def finished(result: Result) -> None:
                self.results[result.method, result.sample, result.trial] = result
                bar.tick(_result_line(result), self.spent())

            for stage in _stages(open):
                work = run_methods(
                    self.run, stage, self.learned, self.control, self.options.parallel, finished
                )
                self.runner.finish(work)
                if self.runner.shutdown.requested:
                    break
        if self.runner.shutdown.requested:
            raise Halt

    def _read_learned(self) -> None:
        plan = self.run.plan
        for method in plan.methods:
            record = self.run.folder.learned(method.name) if method.needs_training else None
            if record is None:
                continue
            learned_from = set(record.get("samples", ()))
            if overlap := {sample.id for sample in plan.samples} & learned_from:
                raise CliError(
                    f"{method.name} learned from {min(overlap)}, which this evaluation includes: use a "
                    "smaller --limit or another --out"
                )
            if learned_from != {sample.id for sample in plan.training}:
                raise CliError(
                    f"{method.name} learned from other samples: repeat its --train and --train-option, "
                    "or use another --out"
                )
            self.learned[method.name] = record["learned"]

    def _learn(self) -> None:
        """Have each method learn that must, where the caps allow it. Raises Halt."""
        for method in self.untrained:
            if not self.control.affordable():
                return
            self.runner.console.print(f"{method.name} learns from {len(self.run.plan.training)} samples")
            self.learned[method.name] = self.runner.finish(train(self.run, method))
            if self.runner.shutdown.requested:
                raise Halt

    def show(self, tables: Callable[[Evaluation], dict[str, Any]] | None = None) -> dict[str, Any]:
        """Show the tables (default: of the evaluation, which are also written), what is to be mended, and
        where to look on. Returns it all as plain JSON. Raises OSError."""
        root = self.run.folder.root
        figures = (tables or self._tables)(read_evaluation(root))
        failed = self._failed()
        lines = [
            f"could not run: {name}: {one_line(why, 300)}" for name, why in list(failed.items())[:_LISTED]
        ]
        if len(failed) > _LISTED:
            lines.append(f"could not run: {len(failed) - _LISTED} more")
        if self.control.capped:
            lines.append(f"the cap is reached: {self.left} runs have no score yet")
        for line in lines:
            self.runner.console.print(Text(line, style="yellow"))
        self.runner.console.print(Text(f"logs: inspect view --log-dir {shlex.quote(str(root))}/logs"))
        self.runner.console.print(Text(f"report: forethought eval report {shlex.quote(str(root))}"))
        return {
            "out": str(root),
            "status": "waits" if self.waits else "incomplete" if self.left else "finished",
            "open": self.left,
            "failed": failed,
            "capped": self.control.capped,
            "cost": self.spent().as_json(),
            "estimate": self.estimate.as_json() if self.estimate else None,
            **figures,
        }

    def _tables(self, evaluation: Evaluation) -> dict[str, Any]:
        """Write table.md and results.json, and show them. Returns the figures."""
        figures = write_tables(evaluation, summary_of(self.run.plan.benchmark))
        if not self.options.as_json:
            show(evaluation.run, figures)
        return figures.as_json()

    def _failed(self) -> dict[str, str]:
        """Why each run that is asked for could not be tried."""
        return {
            f"{method.name}--{sample}--{trial}": result.error
            for method, keys in self.open
            for sample, trial in keys
            if (result := self.results.get((method.name, sample, trial)))
        }


def _stages(open: OpenRuns) -> list[OpenRuns]:
    """Methods that others follow come first."""
    stages = [[item for item in open if bool(item[0].follows) == follows] for follows in (False, True)]
    return [stage for stage in stages if stage]


def evaluate(options: EvalOptions) -> int:
    """Run an evaluation, or go on with it. Returns the exit code. Raises CliError."""
    settings, plan = plan_evaluation(options)
    with open_runner(options.as_json) as runner:
        session = open_session(runner, options, settings, plan, options.folder)
        ending = carry_out(session)
        if session.tried or not (ending.error or session.control.error):
            runner.print_json(session.show())
        for name, learned in session.learned.items():
            if learned.get("records"):
                file = session.run.folder.root / "learned" / f"{name}.json"
                echo(f"next: forethought train export {file} --out DATASET")
        return exit_code(session, ending)


def carry_out(session: EvalSession) -> Ending:
    """Carry the session out. Returns how it ended."""

    def work() -> None:
        try:
            session.carry_out()
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        except Exception:
            # Failures in a row stop an evaluation, whatever their kind: `exit_code` tells them.
            if session.control.error is None:
                raise

    return session.runner.attempt(work)


def exit_code(session: EvalSession, ending: Ending) -> int:
    """Tell how it ended, and how it goes on. Returns the exit code."""
    if error := session.control.error:
        code = FAILED
        if explain(error).internal:
            failures = f"{session.control.fail_after} failures in a row"
            echo(f"stopped after {failures}, the last: {one_line(error, 500)}")
        else:
            code = echo_error(error)
        echo(f"progress is saved; {session.runner.go_on}")
        return code
    if ending.error or (ending.stopped and session.left):
        return session.runner.exit_code(ending, FAILED)
    if session.waits:
        echo("no further runs were started; to continue, repeat the command with --yes")
        return WAITS
    if session.left:
        higher = " with a higher cap" if session.control.capped else ""
        echo(f"to run the rest, repeat the command{higher}")
        return NOT_PASSED
    return ANSWERED


def _result_line(result: Result) -> str:
    """A finished run in a few words."""
    score = f"{result.score:.2f}" if result.score is not None else result.label or "could not run"
    why = one_line(result.error, 120) if result.error else result.status
    return f"{result.method} {result.sample}--{result.trial}: {score} ({why})"


def open_session(
    runner: Runner, options: RunningOptions, settings: Settings, plan: EvaluationPlan, root: Path
) -> EvalSession:
    """The evaluation in the folder `root`, held for this process until the runner closes."""
    folder = RunFolder(root)
    folder.root.mkdir(parents=True, exist_ok=True)
    saver = runner.open(claimed_threads(file_address(folder.database), settings.key, "evaluation"))
    try:
        evaluation = folder.open(plan)
        spent = folder.spent(plan, evaluation)
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error
    control = Control(
        asyncio.Semaphore(options.parallel),
        spent,
        options.max_usd,
        options.max_tokens_total,
        options.fail_after,
        stopping=lambda: runner.shutdown.requested,
    )
    transport = InspectTransport(LiveTransport(settings), redactor(settings))
    run = EvaluationRun(plan, settings, transport, saver, folder, spent)
    results = {(result.method, result.sample, result.trial): result for result in evaluation.results}
    return EvalSession(options, run, control, runner, results)
