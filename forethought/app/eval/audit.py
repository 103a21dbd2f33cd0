"""eval audit: the rules of effort=auto, measured by running skips again with the mechanism on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.markdown import Markdown

from forethought.app.display import make_console
from forethought.app.errors import CliError, echo, input_errors
from forethought.app.eval.commands import AuditOptions
from forethought.app.eval.plan import check_models
from forethought.app.eval.report import benchmark_of
from forethought.app.eval.run import carry_out, exit_code, open_session
from forethought.app.options import settings_from
from forethought.app.runner import open_runner
from forethought.app.text import clean, one_line
from forethought.evals.audit.figures import Comparison, compare, convicts, evidence_of, fitted
from forethought.evals.audit.fork import CONTROL, FORCED, arms
from forethought.evals.audit.skips import SkippedAt, as_samples, find_skips
from forethought.evals.harness.plan import EvaluationPlan
from forethought.evals.report.table import percent, table
from forethought.evals.results import Evaluation, Run, by_sample, read_evaluations
from forethought.evals.types import Benchmark, Budget, Sample
from forethought.nodes.support.effort import Evidence, Rule, load_rules, write_rules
from forethought.state.context import Context
from forethought.storage import open_threads
from forethought.storage.address import file_address
from forethought.storage.sqlite import SqliteThreads

_HEAD = ("rule", "skips", "flips [95 %]", "won", "lost", "noise", "gain [95 %]", "tokens", "USD", "per flip")
_NOTE = (
    "Skips: number, tasks in parentheses. Flips: pairs of a run with the mechanism and a run without it "
    "whose outcomes differ. Won: wrong without it, right with it; lost: the reverse. Noise: pairs of runs "
    "without it that differ. Gain: won less lost. All in per cent, means over tasks. Tokens and USD: the "
    "mechanism's cost per skip; per flip: its tokens for each outcome that it sets right."
)


def audit_rules(options: AuditOptions) -> int:
    """Run an audit, or continue it. Returns the exit code. Raises CliError."""
    settings, root = settings_from(options), options.out or options.runs / "audit"
    with input_errors():
        (runs,) = read_evaluations([options.runs])
        rules = load_rules(settings.effort_file)
        benchmark = benchmark_of(runs, options.benchmark, options.checkers or ())
        if benchmark is None:
            raise CliError(f"add --benchmark {one_line(runs.run.benchmark, 200)}, which imports it")
        if root.resolve() == runs.folder.resolve():
            raise CliError(f"--out {root} holds the runs: name another folder")
        data = options.data or settings.benchmarks_dir / benchmark.name
        samples = benchmark.samples(data, runs.run.options)
    database = runs.folder / "threads.sqlite"
    with open_runner(options.as_json) as runner:
        with runner.opened(open_threads(file_address(database), settings.key, create=False)) as saver:
            found = runner.run(find_skips(runs, saver, settings, rules))
        skips = {skip.id: skip for skip in found}
        drawn = as_samples(found, samples, options.skips, options.seed)
        if not drawn:
            raise CliError(f"{options.runs}: no rule of effort auto skipped anything here; run it with auto")
        plan = _plan(runs.run, benchmark, drawn, skips, options)
        with input_errors():
            check_models(plan, Context(model=plan.model), settings, options)
        session = open_session(runner, options, settings, plan, root)
        assert isinstance(session.run.saver, SqliteThreads)
        runner.run(session.run.saver.attach(database))
        ending = carry_out(session)
        if session.tried:
            asked = [skips[sample.id] for sample in drawn]
            shown = session.show(lambda made: _show(_compared(made, asked), rules, runs.run, options))
            runner.print_json(shown)
        return exit_code(session, ending)


def _plan(
    run: Run,
    benchmark: Benchmark,
    samples: Sequence[Sample],
    skips: Mapping[str, SkippedAt],
    options: AuditOptions,
) -> EvaluationPlan:
    """Both arms on the drawn skips, with all that the runs were made with."""
    same = ("options", "model", "context", "scripted")
    return EvaluationPlan(
        benchmark=benchmark,
        methods=arms(skips),
        samples=tuple(samples),
        training=(),
        trials=options.trials,
        limit=None,
        seed=options.seed,
        judge_model=run.judge_model or run.model,
        user_model=run.user_model or run.model,
        budget=Budget(run.budget.max_steps, run.budget.max_tokens),
        seconds=run.seconds or 3_600,
        **{name: getattr(run, name) for name in same},
    )


def _compared(made: Evaluation, skips: Sequence[SkippedAt]) -> dict[str, list[Comparison]]:
    """By rule, the skips that both arms have run. Reads the audit's folder."""
    control, forced = (
        by_sample(one for one in made.results if one.method == arm and one.tried) for arm in (CONTROL, FORCED)
    )
    compared: dict[str, list[Comparison]] = {}
    for skip in skips:
        if skip.id in control and skip.id in forced:
            found = compare(skip, control[skip.id], forced[skip.id], made.folder)
            compared.setdefault(skip.rule.id, []).append(found)
    return compared


def _show(
    compared: Mapping[str, Sequence[Comparison]], rules: Sequence[Rule], run: Run, options: AuditOptions
) -> dict[str, Any]:
    """Show each rule's figures, and write the fitted rules if a flag asks for it. Returns the figures."""
    source = run.title or run.benchmark, run.model + " (scripted)" * run.scripted, options.seed
    found = {r.id: evidence_of(compared[r.id], *source) for r in rules if r.id in compared}
    convicted = [name for name, one in found.items() if convicts(one)]
    if not options.as_json:
        verdict = f"Convicted, since the interval of the gain is above 0: {', '.join(convicted) or 'none'}."
        note = "The model is scripted: this describes no model." if run.scripted else ""
        rows = [_cells(name, one) for name, one in found.items()]
        make_console().print(Markdown(clean("\n\n".join([table(_HEAD, rows), _NOTE, verdict, note]))))
    if options.write:
        fit = [fitted(r, compared[r.id], found[r.id], options.seed) if r.id in found else r for r in rules]
        write_rules(options.write, fit)
        echo(f"to use the fitted rules: export FORETHOUGHT_EFFORT_FILE={options.write.absolute()}")
    return {
        "rules": {
            name: {
                **one.model_dump(),
                "tokens_per_flip": one.per_flip(one.tokens),
                "usd_per_flip": one.per_flip(one.usd),
                "convicted": name in convicted,
            }
            for name, one in found.items()
        }
    }


def _cells(rule: str, one: Evidence) -> tuple[str, ...]:
    """A rule's line, as _HEAD names the columns."""
    per_flip = one.per_flip(one.tokens)
    return (
        rule,
        f"{one.skips} ({one.tasks})",
        f"{percent(one.flips)} {_between(one.interval)}",
        percent(one.won),
        percent(one.lost),
        percent(one.noise),
        f"{percent(one.net)} {_between(one.gain_interval)}" if one.gain_interval else "",
        f"{one.tokens:,.0f}",
        "?" if one.usd is None else f"{one.usd:.4f}",
        "" if per_flip is None else f"{per_flip:,.0f}",
    )


def _between(bounds: tuple[float, float]) -> str:
    return f"[{percent(bounds[0])}, {percent(bounds[1])}]"
