"""trajectories check, convert and schema: other agents' runs, in the one form that everything here reads."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from forethought.app.command_flags import CommandOptions, argument, flag, typer_command
from forethought.app.errors import ANSWERED, WRONG_USE, CliError, echo
from forethought.app.text import one_line

if TYPE_CHECKING:
    from forethought.trajectories.types import Loaded

Json = dict[str, Any]
trajectories_app = typer.Typer(
    help="Check and convert recorded runs of other agents.", no_args_is_help=True, rich_markup_mode=None
)


class CheckOptions(CommandOptions):
    """The flags of `trajectories check`."""

    paths: list[Path] = argument(help="Recorded runs: files or folders.", metavar="PATH...")


class ConvertOptions(CheckOptions):
    """The flags of `trajectories convert`."""

    out: Path = flag(help="JSON Lines file.", metavar="FILE", default=...)


class SchemaOptions(CommandOptions):
    """The flags of `trajectories schema`."""


def check(options: CheckOptions) -> int:
    """Check recorded runs."""
    read = list(_read(options.paths))
    reports = [report for _, report in read]
    options.print_result(reports, _all_lines(read))
    return _ending(reports)


def convert(options: ConvertOptions) -> int:
    """Convert recorded runs to this project's format."""
    from forethought.json_files import write_records
    from forethought.trajectories.read import distinct

    read = list(_read(options.paths))
    reports = [report for _, report in read]
    runs = list(distinct(run for found, _ in read for run in found))
    if runs:
        try:
            write_records(options.out, [run.model_dump(mode="json", exclude_defaults=True) for run in runs])
        except OSError as error:
            raise CliError(f"{options.out} cannot be written: {error.strerror}") from error
    result = {"out": str(options.out) if runs else "", "runs": len(runs), "files": reports}
    written = [f"{_count(result, 'runs')} written to {options.out}"] if runs else []
    options.print_result(result, [*_all_lines(read), *written])
    return _ending(reports)


def schema(options: SchemaOptions) -> int:
    """Print the JSON Schema of a run."""
    from forethought.trajectories.types import Loaded

    print(json.dumps(Loaded.model_json_schema(), indent=2))
    return ANSWERED


for _command in (check, convert, schema):
    trajectories_app.command()(typer_command(_command))


def _read(paths: Sequence[Path]) -> Iterator[tuple[list[Loaded], Json]]:
    """Each file's runs, and a report of them. In a folder, files in no known format are passed over."""
    from forethought.trajectories.read import SUFFIXES, UnknownFormatError, candidates, read_file

    for path in paths:
        files = candidates(path) if path.is_dir() else [path]
        if not files:
            problem = f"this folder has no files that end in {', '.join(SUFFIXES)}; name another"
            yield [], {"file": str(path), "runs": 0, "passed_over": False, "problem": problem}
        for file in files:
            try:
                runs = read_file(file)
            except UnknownFormatError as error:
                yield [], {"file": str(file), "runs": 0, "passed_over": path.is_dir(), "problem": str(error)}
            except ValueError as error:
                yield [], {"file": str(file), "runs": 0, "passed_over": False, "problem": str(error)}
            else:
                yield runs, _report(file, runs)


def _report(file: Path | str, runs: Sequence[Loaded]) -> Json:
    trajectories = [run.trajectory for run in runs]
    by_task: dict[str, set[str]] = {}
    for run in runs:
        by_task.setdefault(run.trajectory.task_key, set()).add(run.reference.outcome)
    told = ("task_id", "instructions", "tools", "files", "answer", "limit")
    return {
        "file": str(file),
        "runs": len(runs),
        "formats": sorted({each.source or "forethought" for each in trajectories}),
        "tasks": len(by_task),
        "mixed": sum({"success", "failure"} <= outcomes for outcomes in by_task.values()),
        "steps": sum(len(each.steps) for each in trajectories),
        "outcomes": dict(Counter(run.reference.outcome for run in runs)),
        "halted": sum(each.halted for each in trajectories),
        "told": {
            name: count for name in told if (count := sum(bool(getattr(each, name)) for each in trajectories))
        },
        "notes": dict(Counter(note for each in trajectories for note in each.notes)),
    }


def _all_lines(read: Sequence[tuple[Sequence[Loaded], Json]]) -> list[str]:
    """The reports for a person; of several files last what is in all of them, each run once."""
    from forethought.trajectories.read import distinct

    lines = [line for _, report in read for line in _lines(report)]
    if sum(bool(runs) for runs, _ in read) > 1:
        lines += _lines(_report("in total", list(distinct(run for runs, _ in read for run in runs))))[:2]
    return lines


def _lines(report: Json) -> list[str]:
    if "problem" in report:
        what = report["problem"].removeprefix(f"{report['file']}: ")
        problem = (
            f"skipped: {what.partition('; convert it')[0]}" if report["passed_over"] else f"not read: {what}"
        )
        return [one_line(f"{report['file']}: {problem}", 2000)]
    outcomes = ", ".join(f"{count} {name}" for name, count in report["outcomes"].items())
    told = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in report["told"].items())
    size = ", ".join(_count(report, name) for name in ("runs", "steps", "tasks"))
    formats = ", ".join(report["formats"])
    return [
        f"{report['file']}: {formats}; {size} ({report['mixed']} with both outcomes)",
        f"  outcomes: {outcomes}; halted: {report['halted']}; runs with {told or 'nothing else'}",
        *(f"  note of {count}: {one_line(note, 300)}" for note, count in report["notes"].items()),
    ]


def _count(report: Json, name: str) -> str:
    return f"{report[name]} {name.removesuffix('s') if report[name] == 1 else name}"


def _ending(reports: Sequence[Json]) -> int:
    """The exit code: wrong use where a file could not be read, or nothing was."""
    if not any(report["runs"] for report in reports):
        echo(
            "no runs were read; convert them to the format that this prints: forethought trajectories schema"
        )
        return WRONG_USE
    return WRONG_USE if any(not report.get("passed_over", True) for report in reports) else ANSWERED
