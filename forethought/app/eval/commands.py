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


class EvalOptions(CommandOptions):
    """The flags of `eval run`."""

    offers = "model base_url sets checkers"

    name: str = argument(
        help="A benchmark from `eval list`, MODULE:OBJECT, or a tasks file as for `collect`.",
        metavar="NAME|TASKS",
    )
    method: str = flag(help="Methods, each compared with the first.", metavar="M,...", default="ours")
    out: Path | None = flag(help="Output folder; continues an existing one.", metavar="DIR")
    limit: int | None = flag(help="Number of samples, drawn with --seed (default: all).", metavar="N", min=1)
    sample: str | None = flag(help="Only these samples.", metavar="ID,...")
    trials: int = flag(help="Runs per method and sample.", metavar="K", default=1, min=1, max=100)
    seed: int = flag(help="Random seed.", metavar="S", default=0)
    parallel: int = flag(help="Maximum parallel samples.", metavar="P", default=4, min=1, max=256)
    steps: int | None = flag(
        help="Maximum tool calls or actions per sample (20, or the benchmark's limit).",
        metavar="N",
        min=1,
    )
    tokens: int | None = flag(
        help="Maximum tokens per sample (400,000, or the benchmark's limit).", metavar="N", min=1_000
    )
    tries: int | None = flag(
        help="Maximum tries per sample of reflexion (3), samule (4) and agentdebug (6).",
        metavar="N",
        min=1,
        max=20,
    )
    seconds: float = flag(
        help="Maximum seconds per sample.", metavar="S", default=3_600, min=1, max=1_000_000
    )
    data: Path | None = flag(help="Folder of the benchmark's data.", metavar="DIR")
    option: list[str] | None = flag(help="A benchmark option (repeatable).", metavar="KEY=VALUE")
    train: int = flag(help="Training samples for methods that learn.", metavar="N", default=8, min=1)
    train_option: list[str] | None = flag(
        help="A benchmark option for training samples (repeatable).", metavar="KEY=VALUE"
    )
    judge_model: str | None = flag(help="Judge model (default: --model).", metavar="M")
    user_model: str | None = flag(help="Model that plays users (default: --model).", metavar="M")
    max_usd: float | None = flag(
        help="Start no further sample after spending this many dollars.", metavar="USD", min=0
    )
    max_tokens_total: int | None = flag(
        help="Start no further sample after using this many tokens.", metavar="N", min=1
    )
    fail_after: int = flag(
        help="Stop after this many samples in a row could not run.", metavar="N", default=5, min=1
    )
    scripted: bool = flag(help="Mark the model as scripted in the tables.", default=False)
    yes: bool = flag("--yes", "-y", help="Accept the cost estimate without asking.", default=False)

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
    """Run methods on a benchmark, with confidence intervals."""
    need_evals()
    from forethought.app.eval.run import evaluate

    return evaluate(options)


class LogsOptions(CommandOptions):
    """The flags of a command on evaluations that are there."""

    logs: list[Path] = argument("Folders from `eval run`, or inspect logs in them.", "LOG...")
    benchmark: str | None = flag(
        help="Import this benchmark and show its own figures.",
        metavar="NAME",
    )


class ReportOptions(LogsOptions):
    """The flags of `eval report`."""

    html: bool = flag(help="Also write report.html with plots.", default=False)


class CompareOptions(LogsOptions):
    """The flags of `eval compare`."""

    html: Path | None = flag(help="Also write the comparison as a page.", metavar="FILE")


def list_(options: CommandOptions) -> int:
    """List benchmarks, where to get their data, and methods."""
    from forethought.app.eval import report as eval_report

    return eval_report.list_evaluations(options)


def report(options: ReportOptions) -> int:
    """Show an evaluation's tables and save them in its folder."""
    need_evals()
    from forethought.app.eval import report as eval_report

    return eval_report.report(options.logs, options.html, options.as_json, options.benchmark)


def compare(options: CompareOptions) -> int:
    """Compare methods or evaluations sample by sample."""
    need_evals()
    from forethought.app.eval import report as eval_report

    return eval_report.compare(options.logs, options.html, options.as_json, options.benchmark)


for _name, _command in (("run", run), ("list", list_), ("report", report), ("compare", compare)):
    eval_app.command(_name)(typer_command(_command))
