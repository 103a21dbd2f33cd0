"""debug PATH: which of the recorded runs are meant, their list, and several debugged one after the other.

Each is a debugging of its own, whose id is made of the run and the choices: the same command continues where
it was broken off, and repeats no finished debugging.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from forethought.app.debug import view
from forethought.app.debug.command import DebugOptions, drive
from forethought.app.debug.session import DebugRequest, debugger_context, debugging_of, open_debugging
from forethought.app.debug.summary import summary, summary_lines
from forethought.app.errors import ANSWERED, FAILED, NOT_PASSED, WAITS, CliError
from forethought.app.offline import material_id, read_runs
from forethought.app.options import settings_from
from forethought.app.report import unfinished, usage_of
from forethought.app.runner import Ending, Runner, open_runner
from forethought.app.text import one_line
from forethought.app.view import usage_line
from forethought.knowledge.error_taxonomy import load_taxonomy
from forethought.models import Models
from forethought.nodes.debugger.estimate import estimate
from forethought.nodes.support.offline import estimate_text
from forethought.settings import Settings
from forethought.state.debugger import DebuggerContext
from forethought.trajectories.types import Loaded

Json = dict[str, Any]
_LISTED = 10
"""Most ids that are listed to choose from."""


def choose(path: Path, options: DebugOptions) -> tuple[list[Loaded], list[Loaded]]:
    """The runs at `path` that the flags mean; and those that succeeded, if --failed leaves them out. Raises
    CliError where they mean none, or many by no flag."""
    runs = [run.loaded for run in read_runs([path])]
    fitting = [run for run in runs if options.pick in (None, run.trajectory.id)]
    if fitting and options.failed and not any(map(_failed, fitting)):
        raise CliError(f"{path} records no failed run; leave out --failed")
    chosen = [run for run in fitting if _failed(run) or not options.failed][: options.limit]
    if len(chosen) == 1 or (chosen and (options.listing or options.failed or options.limit)):
        return chosen, [run for run in runs if options.failed and run.reference.outcome == "success"]
    ids = ", ".join(one_line(run.trajectory.id, 60) for run in runs[:_LISTED])
    more = ", ..." if len(runs) > _LISTED else ""
    fit = (
        f"holds {len(runs)} runs"
        if fitting
        else f"holds {len(runs)} runs, none called {one_line(options.pick, 60)}"
    )
    raise CliError(
        f"{path} {fit}; list them with --list, debug several with --failed or --limit N, or choose one with "
        f"--pick: {ids}{more}"
    )


def _failed(run: Loaded) -> bool:
    """Whether the run failed as far as its source says; one that its limit ended did."""
    outcome = run.reference.outcome
    return outcome == "failure" or (outcome == "unknown" and run.trajectory.halted)


def list_runs(runs: Sequence[Loaded], succeeded: Sequence[Loaded], options: DebugOptions) -> int:
    """Print the runs and the tool errors that they share. No model is asked."""
    result = summary([(run, {}) for run in runs], succeeded)
    options.print_result(result, summary_lines(result))
    return ANSWERED


def debug_runs(
    runs: Sequence[Loaded],
    succeeded: Sequence[Loaded],
    request: DebugRequest,
    expect: str,
    options: DebugOptions,
) -> int:
    """Debug each run, and print what recurs in them. Ends early where a model or a database fails."""
    settings = settings_from(options)
    context = debugger_context(request, options, settings, settings.model)
    rows: list[tuple[Loaded, Json]] = []
    with open_runner(options.as_json) as runner:
        _tell_costs(runner, runs, context, settings)
        for run in runs:
            key = material_id("debug", [asdict(request), context.model_dump(mode="json"), expect], [run])
            id = f"{debugging_of(f'{run.trajectory.id[:50]}@{key[-8:]}')}:1"
            report, ending = _debug(runner, run, request, expect, id, options)
            rows.append((run, report))
            if ending.error or ending.stopped:
                break
        result = summary(rows, succeeded)
        result["usage"] = _usage(rows)
        for line in (*summary_lines(result), usage_line(result["usage"])):
            runner.console.print(line, soft_wrap=True)
        runner.print_json(result)
        return runner.exit_code(ending, _exit_code(result["runs"]))


def _debug(
    runner: Runner, run: Loaded, request: DebugRequest, expect: str, id: str, options: DebugOptions
) -> tuple[Json, Ending]:
    """The report of one run's debugging, which is begun, continued, or was finished before."""
    with runner.opened(open_debugging(request, options, run.trajectory, id)) as session:
        snapshot = runner.run(session.snapshot())
        if snapshot.values and not unfinished(snapshot):
            report = view.debug_report(id, session.request, snapshot)
            runner.console.print(f"{session.id} was already debugged: {report['status']}")
            return report, Ending()
        begun = {"thread_id": "", "expect": expect, "trajectory": run.model_dump(mode="json")}
        return drive(runner, session, None if snapshot.values else begun)


def _tell_costs(runner: Runner, runs: Sequence[Loaded], context: DebuggerContext, settings: Settings) -> None:
    """Print the estimate of all runs but those that succeeded, which cost nothing."""
    costly = [run.trajectory for run in runs if run.reference.outcome != "success" and run.trajectory.steps]
    prompts, besides = estimate(costly, context, load_taxonomy())
    if text := estimate_text(prompts, Models(settings), context.model, besides):
        runner.console.print(f"note: {text}", style="dim", soft_wrap=True)


def _usage(rows: Sequence[tuple[Loaded, Json]]) -> Json:
    """The usage of all debuggings; dollars are null where one has calls of no known price."""
    used = {report["thread_id"]: report["usage"] for _, report in rows if report.get("usage")}
    priced = {
        key: {**each, "usd": each["usd"] or 0.0, "unpriced": each["usd"] is None}
        for key, each in used.items()
    }
    return usage_of({"usage": priced})


def _exit_code(rows: Sequence[Json]) -> int:
    """The gravest exit code of the debuggings."""
    codes = {view.exit_code(row["status"]) for row in rows}
    return next((code for code in (FAILED, WAITS, NOT_PASSED) if code in codes), ANSWERED)
