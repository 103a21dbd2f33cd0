"""The commands under `eval` and their flags. What they do is in the modules they call, loaded only then."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import typer

from forethought.app.command_flags import CommandOptions, argument, flag, typer_command
from forethought.app.errors import CliError
from forethought.extras import install_command

eval_app = typer.Typer(
    help="Evaluate the agent, baselines and ablations on benchmarks.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class RunningOptions(CommandOptions):
    """The flags of a command that runs trials."""

    out: Path | None = flag(help="Output folder, new or to continue.", metavar="DIR")
    seed: int = flag(help="Random seed.", metavar="N", default=0)
    parallel: int = flag(help="Maximum parallel runs.", metavar="N", default=4, min=1, max=256)
    data: Path | None = flag(help="Benchmark data.", metavar="DIR")
    max_usd: float | None = flag(help="Start no runs beyond this cost.", metavar="USD", min=0)
    max_tokens_total: int | None = flag(help="Start no runs beyond this many tokens.", metavar="N", min=1)
    fail_after: int = flag(help="Stop after this many consecutive failures.", metavar="N", default=5, min=1)
    yes: bool = flag("--yes", "-y", help="Do not ask for confirmation.", default=False)


class EvalOptions(RunningOptions):
    """The flags of `eval run`."""

    offers = "model base_url sets checkers"

    name: str = argument(
        help="Benchmark from `eval list`, MODULE:OBJECT, or tasks as for `collect`.",
        metavar="NAME|TASKS",
    )
    method: str = flag(help="Methods; the first is the baseline.", metavar="M,...", default="ours")
    limit: int | None = flag(help="Number of samples to draw.", metavar="N", min=1, show_default="all")
    sample: str | None = flag(help="Only these samples.", metavar="ID,...")
    trials: int = flag(help="Runs per method and sample.", metavar="K", default=1, min=1, max=100)
    steps: int | None = flag(
        help="Maximum tool calls per sample.", metavar="N", min=1, show_default="the benchmark's"
    )
    tokens: int | None = flag(
        help="Maximum tokens per sample.", metavar="N", min=1_000, show_default="the benchmark's"
    )
    tries: int | None = flag(
        help="Maximum tries per sample.",
        metavar="N",
        min=1,
        max=20,
    )
    seconds: float = flag(
        help="Maximum seconds per sample.", metavar="S", default=3_600, min=1, max=1_000_000
    )
    option: list[str] | None = flag(help="Benchmark option (repeatable).", metavar="KEY=VALUE")
    train: int = flag(help="Training samples for methods that learn.", metavar="N", default=8, min=1)
    train_option: list[str] | None = flag(help="Training benchmark option (repeatable).", metavar="KEY=VALUE")
    judge_model: str | None = flag(help="Judge model.", metavar="M", show_default="--model")
    user_model: str | None = flag(help="Model that plays users.", metavar="M", show_default="--model")
    scripted: bool = flag(help="Mark the model as scripted.", default=False)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods named. Raises CliError when there is none."""
        return _names(self.method, "--method")

    @property
    def samples(self) -> tuple[str, ...]:
        """The samples named; () for those that --limit draws. Raises CliError when there is none."""
        return () if self.sample is None else _names(self.sample, "--sample")

    @property
    def folder(self) -> Path:
        """Where the results go."""
        return self.out or Path("evaluations") / Path(self.name).name.replace(":", "-")


def _names(text: str, flag: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not names:
        raise CliError(f"{flag} is empty: give it a name, or leave it out")
    return names


def need_evals() -> None:
    """Raises CliError when the extra is not installed."""
    if find_spec("inspect_ai") is None:
        raise CliError(f"evaluations need inspect: {install_command('evals')}")


def run(options: EvalOptions) -> int:
    """Compare methods on a benchmark."""
    need_evals()
    from forethought.app.eval.run import evaluate

    return evaluate(options)


class LogsOptions(CommandOptions):
    """The flags of a command on evaluations that are there."""

    logs: list[Path] = argument("Folders or logs from `eval run`.", "LOG...")
    benchmark: str | None = flag(
        help="Benchmark to import, if it is not built in.",
        metavar="NAME",
    )


class ReportOptions(LogsOptions):
    """The flags of `eval report`."""

    html: bool = flag(help="Also write report.html.", default=False)


class CompareOptions(LogsOptions):
    """The flags of `eval compare`."""

    html: Path | None = flag(help="Also write a page.", metavar="FILE")


def list_(options: CommandOptions) -> int:
    """List methods, benchmarks and their data."""
    from forethought.app.eval import report as eval_report

    return eval_report.list_evaluations(options)


def report(options: ReportOptions) -> int:
    """Show and save an evaluation's tables."""
    need_evals()
    from forethought.app.eval import report as eval_report

    return eval_report.report(options.logs, options.html, options.as_json, options.benchmark)


def compare(options: CompareOptions) -> int:
    """Compare methods or evaluations sample by sample."""
    need_evals()
    from forethought.app.eval import report as eval_report

    return eval_report.compare(options.logs, options.html, options.as_json, options.benchmark)


class AuditOptions(RunningOptions):
    """The flags of `eval audit`."""

    offers = "base_url checkers"

    runs: Path = argument("Folder from `eval run`.", "RUNS")
    trials: int = flag(help="Runs per skip, with and without the mechanism.", metavar="K", default=3, min=1)
    skips: int = flag(help="Maximum skips per rule.", metavar="N", default=50, min=1)
    benchmark: str | None = flag(help="Benchmark to import, if it is not built in.", metavar="NAME")
    write: Path | None = flag(help="Write fitted rules.", metavar="FILE")


def audit(options: AuditOptions) -> int:
    """Measure what skips of effort auto cost and change."""
    need_evals()
    from forethought.app.eval.audit import audit_rules

    return audit_rules(options)


_COMMANDS = (("run", run), ("list", list_), ("report", report), ("compare", compare), ("audit", audit))
for _name, _command in _COMMANDS:
    eval_app.command(_name)(typer_command(_command))
