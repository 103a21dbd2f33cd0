"""The commands under `eval` and their flags. What they do is in the modules they call, loaded only then."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from forethought.app.command_flags import (
    BaseUrl,
    CommandOptions,
    Debug,
    Json,
    Model,
    Sets,
    begin,
    typer_command,
)
from forethought.app.errors import CliError

eval_app = typer.Typer(
    help="Evaluate the agent, its ablations and baselines on benchmarks.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Logs = Annotated[
    list[Path],
    typer.Argument(help="Folders that `eval run` wrote, or inspect logs in them.", metavar="LOG..."),
]
OwnBenchmark = Annotated[
    str | None,
    typer.Option(
        "--benchmark",
        help="An own benchmark, whose figures are wanted: it is imported.",
        metavar="MODULE:OBJECT",
    ),
]


class EvalOptions(CommandOptions):
    """The flags of `eval run`."""

    name: Annotated[str, typer.Argument(help="The benchmark, as `eval list` names it.", metavar="NAME")]
    method: Annotated[
        str,
        typer.Option("--method", help="Methods, comma-separated; compared with the first.", metavar="M,..."),
    ] = "ours"
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the results; goes on there.", metavar="DIR")
    ] = None
    limit: Annotated[
        int | None,
        typer.Option("--limit", help="So many samples, drawn by --seed; by default all.", min=1, metavar="N"),
    ] = None
    sample: Annotated[
        str | None, typer.Option("--sample", help="These samples, comma-separated.", metavar="ID,...")
    ] = None
    trials: Annotated[
        int, typer.Option("--trials", help="Runs of a method on a sample.", min=1, max=100, metavar="K")
    ] = 1
    seed: Annotated[int, typer.Option("--seed", help="Seed of all that is drawn.", metavar="S")] = 0
    parallel: Annotated[
        int, typer.Option("--parallel", help="Samples side by side.", min=1, max=256, metavar="P")
    ] = 4
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps",
            help="Tool calls or actions of a sample; by default 20, or as many as the benchmark takes.",
            min=1,
            metavar="N",
        ),
    ] = None
    tokens: Annotated[
        int, typer.Option("--tokens", help="Tokens of a sample, input and output.", min=1_000, metavar="N")
    ] = 400_000
    seconds: Annotated[
        float, typer.Option("--seconds", help="Longest time of a sample.", min=1, max=1_000_000, metavar="S")
    ] = 3_600
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder of the benchmark's data.", metavar="DIR")
    ] = None
    option: Annotated[
        list[str] | None,
        typer.Option("--option", help="An option of the benchmark; may be repeated.", metavar="KEY=VALUE"),
    ] = None
    train: Annotated[
        int, typer.Option("--train", help="Samples that a method learns from first.", min=1, metavar="N")
    ] = 8
    train_option: Annotated[
        list[str] | None,
        typer.Option(
            "--train-option", help="Another option for these samples; may be repeated.", metavar="KEY=VALUE"
        ),
    ] = None
    judge_model: Annotated[
        str | None, typer.Option("--judge-model", help="Model that judges; by default --model.", metavar="M")
    ] = None
    user_model: Annotated[
        str | None,
        typer.Option("--user-model", help="Model that plays users; by default --model.", metavar="M"),
    ] = None
    max_usd: Annotated[
        float | None,
        typer.Option("--max-usd", help="Dollars after which no further sample begins.", min=0, metavar="USD"),
    ] = None
    max_tokens_total: Annotated[
        int | None,
        typer.Option(
            "--max-tokens-total", help="Tokens after which no further sample begins.", min=1, metavar="N"
        ),
    ] = None
    fail_after: Annotated[
        int,
        typer.Option(
            "--fail-after",
            help="Stop after so many samples in a row that cannot be tried.",
            min=1,
            metavar="N",
        ),
    ] = 5
    scripted: Annotated[
        bool, typer.Option("--scripted", help="Say in the table that the model is a script.")
    ] = False
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Go on after the estimate without asking.")] = False
    model: Model = None
    base_url: BaseUrl = None
    sets: Sets = None

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
        return self.out or Path("evaluations") / self.name.replace(":", "-")


def _names(text: str, flag: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not names:
        raise CliError(f"{flag} is empty: give it a name, or leave it out")
    return names


def need_evals() -> None:
    """Raises CliError when the extra is not installed."""
    if find_spec("inspect_ai") is None:
        raise CliError("evaluations need inspect: pip install 'forethought[evals]'")


def run(options: EvalOptions) -> int:
    """Run methods on a benchmark's samples, score them, and say how sure the figures are."""
    need_evals()
    from forethought.app.eval.run import evaluate

    return evaluate(options)


eval_app.command("run")(typer_command(run))


@eval_app.command("list")
def list_(as_json: Json = False, debug: Debug = False) -> int:
    """List benchmarks, whether their data is here or where to get it, and methods."""
    begin(debug)
    from forethought.app.eval import report as eval_report

    return eval_report.list_evaluations(as_json)


@eval_app.command()
def report(
    logs: Logs,
    html: Annotated[bool, typer.Option("--html", help="Draw the plots and write report.html too.")] = False,
    benchmark: OwnBenchmark = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Show an evaluation's tables and write them into its folder."""
    begin(debug)
    need_evals()
    from forethought.app.eval import report as eval_report

    return eval_report.report(logs, html, as_json, benchmark)


@eval_app.command()
def compare(
    logs: Logs,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page of the comparison.", metavar="FILE")
    ] = None,
    benchmark: OwnBenchmark = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Hold methods, or several evaluations of one benchmark, against the first one, sample by sample."""
    begin(debug)
    need_evals()
    from forethought.app.eval import report as eval_report

    return eval_report.compare(logs, html, as_json, benchmark)
