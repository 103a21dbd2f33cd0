"""The commands under `eval` and their flags. What they do is in the modules they call."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forethought.app.command_flags import BaseUrl, Debug, Json, Model, Sets, begin
from forethought.app.eval import report_commands as eval_report_commands

eval_app = typer.Typer(
    help="Evaluate the agent, its ablations and baselines on benchmarks.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
eval_app.command()(eval_report_commands.report)
eval_app.command()(eval_report_commands.compare)


@eval_app.command("list")
def list_(as_json: Json = False, debug: Debug = False) -> int:
    """List benchmarks, whether their data is here or where to get it, and methods."""
    begin(debug)
    from forethought.app.eval import listing as eval_listing

    return eval_listing.list_evaluations(as_json)


@eval_app.command()
def run(
    name: Annotated[str, typer.Argument(help="The benchmark, as `eval list` names it.", metavar="NAME")],
    method: Annotated[
        str,
        typer.Option("--method", help="Methods, comma-separated; compared with the first.", metavar="M,..."),
    ] = "ours",
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the results; goes on there.", metavar="DIR")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", help="So many samples, drawn by --seed; by default all.", min=1, metavar="N"),
    ] = None,
    sample: Annotated[
        str | None, typer.Option("--sample", help="These samples, comma-separated.", metavar="ID,...")
    ] = None,
    trials: Annotated[
        int, typer.Option("--trials", help="Runs of a method on a sample.", min=1, max=100, metavar="K")
    ] = 1,
    seed: Annotated[int, typer.Option("--seed", help="Seed of all that is drawn.", metavar="S")] = 0,
    parallel: Annotated[
        int, typer.Option("--parallel", help="Samples side by side.", min=1, max=256, metavar="P")
    ] = 4,
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps",
            help="Tool calls or actions of a sample; by default 20, or as many as the benchmark takes.",
            min=1,
            metavar="N",
        ),
    ] = None,
    tokens: Annotated[
        int, typer.Option("--tokens", help="Tokens of a sample, input and output.", min=1_000, metavar="N")
    ] = 400_000,
    seconds: Annotated[
        float, typer.Option("--seconds", help="Longest time of a sample.", min=1, max=1_000_000, metavar="S")
    ] = 3_600,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder of the benchmark's data.", metavar="DIR")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", help="An option of the benchmark; may be repeated.", metavar="KEY=VALUE"),
    ] = None,
    train: Annotated[
        int, typer.Option("--train", help="Samples that a method learns from first.", min=1, metavar="N")
    ] = 8,
    train_option: Annotated[
        list[str] | None,
        typer.Option(
            "--train-option", help="Another option for these samples; may be repeated.", metavar="KEY=VALUE"
        ),
    ] = None,
    judge_model: Annotated[
        str | None, typer.Option("--judge-model", help="Model that judges; by default --model.", metavar="M")
    ] = None,
    user_model: Annotated[
        str | None,
        typer.Option("--user-model", help="Model that plays users; by default --model.", metavar="M"),
    ] = None,
    max_usd: Annotated[
        float | None,
        typer.Option("--max-usd", help="Dollars after which no further sample begins.", min=0, metavar="USD"),
    ] = None,
    max_tokens_total: Annotated[
        int | None,
        typer.Option(
            "--max-tokens-total", help="Tokens after which no further sample begins.", min=1, metavar="N"
        ),
    ] = None,
    fail_after: Annotated[
        int,
        typer.Option(
            "--fail-after",
            help="Stop after so many samples in a row that cannot be tried.",
            min=1,
            metavar="N",
        ),
    ] = 5,
    scripted: Annotated[
        bool, typer.Option("--scripted", help="Say in the table that the model is a script.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Go on after the estimate without asking.")
    ] = False,
    model: Model = None,
    base_url: BaseUrl = None,
    sets: Sets = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Run methods on a benchmark's samples, score them, and say how sure the figures are."""
    begin(debug)
    from forethought.app.eval.extra import need_evals

    need_evals()
    from forethought.app.eval import running as eval_running
    from forethought.app.eval.state import Asked
    from forethought.app.options import Flags

    asked = Asked(
        benchmark=name,
        methods=_names(method, "--method"),
        out=out or Path("evaluations") / name.replace(":", "-"),
        limit=limit,
        samples=_names(sample, "--sample") if sample is not None else (),
        trials=trials,
        seed=seed,
        parallel=parallel,
        steps=steps,
        tokens=tokens,
        seconds=seconds,
        train=train,
        data=data,
        options=tuple(option or ()),
        train_options=tuple(train_option or ()),
        judge_model=judge_model,
        user_model=user_model,
        max_usd=max_usd,
        max_tokens_total=max_tokens_total,
        fail_after=fail_after,
        scripted=scripted,
        yes=yes,
    )
    return eval_running.evaluate(asked, Flags(model, base_url, None, tuple(sets or ())), as_json)


def _names(text: str, flag: str) -> tuple[str, ...]:
    """The parts between the commas. Raises CliError when there is none."""
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if not names:
        from forethought.app.errors import CliError

        raise CliError(f"{flag} is empty: give it a name, or leave it out")
    return names
