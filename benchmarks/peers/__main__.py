"""Measure the grid and write results.json, table.md and plots.

    make bench [QUICK=1] [BENCH="--out DIR --only 'ours, auto;create_agent' --docs"]

Exits with 1 where one of ours failed. Results are written after every cell, so a run may be broken off.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from benchmarks.peers import plots, report
from benchmarks.peers.grid import CONTENDERS, Cell, cells, settings
from benchmarks.peers.server import served

Json = dict[str, Any]
_PACKAGES = ("langchain", "langgraph", "langchain-openai", "openai", "httpx", "smolagents")


class Workers:
    """A worker for each framework, started at its first cell."""

    def __init__(self, url: str, log: IO[str]) -> None:
        self.url, self.log = url, log
        self.processes: dict[str, subprocess.Popen[str]] = {}

    def measure(self, cell: Cell) -> Json:
        """The figures of a cell, and why it failed."""
        module, options = CONTENDERS[cell.contender]
        if module not in self.processes:
            command = [sys.executable, "-m", "benchmarks.peers.worker", module]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.log}
            self.processes[module] = subprocess.Popen(command, text=True, bufsize=1, **pipes)
        worker = self.processes[module]
        setting = {**asdict(cell.setting), "repeats": cell.setting.repeats}
        line = ""
        if worker.poll() is None and worker.stdin and worker.stdout:
            worker.stdin.write(json.dumps({**setting, "url": self.url, "options": options}) + "\n")
            line = worker.stdout.readline()
        sums = json.loads(line) if line else {"failed": "its framework could not be imported"}
        return {"failed": sums["failed"], **({} if sums["failed"] else report.figures(sums, cell.setting))}

    def close(self) -> None:
        """End them."""
        for worker in self.processes.values():
            worker.communicate()


def machine() -> Json:
    """Where and with what it is measured."""
    return {
        "measured at": datetime.now(UTC).isoformat(timespec="minutes"),
        "on": platform.system(),
        "cores": os.cpu_count(),
        "load before": round(os.getloadavg()[0], 1),
        "Python": platform.python_version(),
        **{name: version(name) for name in _PACKAGES},
    }


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small grid, in under three minutes")
    parser.add_argument("--out", type=Path, default=Path("build/peers"), help="folder (default build/peers)")
    parser.add_argument("--only", help="contenders, separated by semicolons")
    parser.add_argument("--docs", action="store_true", help="write the ratios into docs/performance.md too")
    given = parser.parse_args()
    names = given.only.split(";") if given.only else list(CONTENDERS)
    if unknown := [name for name in names if name not in CONTENDERS]:
        parser.error(f"there is no {unknown[0]!r}; there are: {'; '.join(CONTENDERS)}")
    chosen = settings(given.quick)
    wanted = list(cells(chosen, names))
    given.out.mkdir(parents=True, exist_ok=True)
    results: Json = {"machine": machine(), "quick": given.quick, "cells": []}
    with served() as url, (given.out / "log.txt").open("w") as log:
        workers = Workers(url, log)
        for at, cell in enumerate(wanted, 1):
            figures = workers.measure(cell)
            results["cells"].append({"contender": cell.contender, **asdict(cell.setting), **figures})
            took = f"failed: {figures['failed']}" if figures["failed"] else f"{figures['wall, s']:.2f} s"
            print(f"{at}/{len(wanted)} {cell.setting}: {cell.contender}: {took}", flush=True)
            (given.out / "results.json").write_text(json.dumps(results, indent=1))
        workers.close()
    table = report.Table(results, chosen, names)
    (given.out / "table.md").write_text(table.whole())
    plots.draw(table, given.out)
    if given.docs:
        report.write_docs(table, Path("docs/performance.md"))
    print(f"\n{table.summary()}\n\nThe whole table, the plots and the JSON: {given.out}")
    return any(cell["failed"] and cell["contender"].startswith("ours") for cell in results["cells"])


if __name__ == "__main__":
    sys.exit(main())
