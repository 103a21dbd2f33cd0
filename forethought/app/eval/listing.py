"""eval list: the benchmarks and whether their data is here, and the methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.text import Text

from forethought.app.display import make_console
from forethought.app.options import Flags, settings_from
from forethought.app.text import one_line, to_json
from forethought.evals import registry
from forethought.evals.types import DataError, InfrastructureError
from forethought.settings import Settings

Json = dict[str, Any]


def list_evaluations(as_json: bool) -> int:
    """Show what can be evaluated. Returns the exit code. Raises CliError."""
    settings = settings_from(Flags())
    benchmarks = [_benchmark(name, settings) for name in registry.BENCHMARKS]
    methods = [{"name": name, "about": registry.method(name).about} for name in registry.method_names()]
    if as_json:
        print(to_json({"benchmarks": benchmarks, "methods": methods}))
        return 0
    console = make_console()
    console.print("benchmarks")
    for item in benchmarks:
        console.print(Text(f"  {item['name']}: {item['title']}. {item['about']}".rstrip()))
        place = f" in {item['data']}" if Path(item["data"]).exists() else ", which need no data"
        here = f"{item['samples']} samples{place}" if item["samples"] else item["missing"]
        console.print(Text(f"    {here}", style="green" if item["samples"] else "yellow"))
    console.print("methods")
    for item in methods:
        console.print(Text(f"  {item['name']}: {item['about']}"))
    return 0


def _benchmark(name: str, settings: Settings) -> Json:
    data = settings.benchmarks_dir / name
    told: Json = {"name": name, "title": "", "about": "", "data": str(data), "samples": 0, "missing": ""}
    try:
        benchmark = registry.benchmark(name)
        told |= {"title": benchmark.title, "about": benchmark.about, "options": dict(benchmark.options)}
        told["samples"] = len(benchmark.samples(data, {}))
    except (DataError, InfrastructureError, ImportError) as error:
        told["missing"] = one_line(error, 1000)
    return told
