"""Measure the grid and write results.json, table.md and plots.

    make bench [QUICK=1] [BENCH="--out DIR --only 'ours, auto,create_agent' --docs"]

Exits with 1 where one of ours failed. Results are written after every setting, so a run may be broken off.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any

from benchmarks.peers import plots, report
from benchmarks.peers.grid import CONTENDERS, Cell, cells, settings
from benchmarks.peers.server import served

Json = dict[str, Any]
_PACKAGES = ("forethought", "langchain", "langgraph", "langchain-openai", "openai", "httpx", "smolagents")
_IMPORT = (
    "import time; wall, cpu = time.perf_counter(), time.process_time(); import {}; "
    "print(time.perf_counter() - wall, time.process_time() - cpu)"
)


class Workers:
    """A worker for each framework, started at its first cell."""

    def __init__(self, url: str, log: IO[str]) -> None:
        self.url, self.log = url, log
        self.processes: dict[str, subprocess.Popen[str]] = {}

    def measure(self, cell: Cell) -> Json:
        """What a cell came to."""
        module, options = CONTENDERS[cell.contender]
        if module not in self.processes:
            command = [sys.executable, "-m", "benchmarks.peers.worker", module]
            self.processes[module] = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True
            )
        worker = self.processes[module]
        assert worker.stdin
        assert worker.stdout
        setting = {**asdict(cell.setting), "repeats": cell.setting.repeats}
        try:
            print(json.dumps({**setting, "url": self.url, "options": options}), file=worker.stdin, flush=True)
        except BrokenPipeError:
            return {"failed": "its framework could not be imported"}
        line = worker.stdout.readline()
        return dict(json.loads(line)) if line else {"failed": "its framework could not be imported"}

    def close(self) -> None:
        """End them."""
        for worker in self.processes.values():
            assert worker.stdin
            worker.stdin.close()
            worker.wait()


def import_times(trials: int) -> dict[str, Json]:
    """Seconds to import each framework in a new process: the least of so many trials."""
    times = {}
    for module in dict.fromkeys(module for module, _ in CONTENDERS.values()):
        code = _IMPORT.format(f"benchmarks.peers.contenders.{module}")
        took = []
        for _ in range(trials):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
            took += [tuple(map(float, done.stdout.split()))] if done.returncode == 0 else []
        wall, cpu = min(took, default=(None, None))
        times[module] = {"wall_s": wall, "cpu_s": cpu}
    return times


def machine() -> Json:
    """Where and with what it was measured."""
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "at": datetime.now(UTC).isoformat(timespec="minutes"),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": versions,
    }


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small grid, in under three minutes")
    parser.add_argument("--out", type=Path, default=Path("build/peers"), help="folder (default build/peers)")
    parser.add_argument("--only", help="contenders, separated by semicolons")
    parser.add_argument("--docs", action="store_true", help="write the figures into docs/performance.md too")
    given = parser.parse_args()
    names = given.only.split(";") if given.only else list(CONTENDERS)
    if unknown := [name for name in names if name not in CONTENDERS]:
        parser.error(f"there is no {unknown[0]!r}; there are: {'; '.join(CONTENDERS)}")
    chosen, begun = settings(given.quick), time.monotonic()
    wanted = list(cells(chosen, names))
    given.out.mkdir(parents=True, exist_ok=True)
    results: Json = {
        "machine": machine(),
        "quick": given.quick,
        "imports": import_times(1 if given.quick else 3),
        "cells": [],
    }
    with served() as url, (given.out / "log.txt").open("w") as log:
        workers = Workers(url, log)
        for at, cell in enumerate(wanted, 1):
            figures = workers.measure(cell)
            results["cells"].append({"contender": cell.contender, **asdict(cell.setting), **figures})
            took = figures.get("failed") or f"{figures['wall_s']:.2f} s"
            print(f"{at}/{len(wanted)} {cell.setting} {cell.contender}: {took}", flush=True)
            (given.out / "results.json").write_text(json.dumps(results, indent=1))
        workers.close()
    results["minutes"] = round((time.monotonic() - begun) / 60, 1)
    (given.out / "results.json").write_text(json.dumps(results, indent=1))
    table = report.Table(results, chosen, names)
    (given.out / "table.md").write_text(table.whole())
    plots.draw(table, given.out)
    if given.docs:
        report.write_docs(table, Path("docs/performance.md"))
    print(f"\n{table.summary()}\n\nThe whole table, the plots and the JSON: {given.out}")
    failed = [cell for cell in results["cells"] if cell["failed"]]
    for cell in failed:
        print(f"failed: {cell['contender']}, {cell['shape']}, K = {cell['k']}: {cell['failed']}")
    return any(cell["contender"].startswith("ours") for cell in failed)


if __name__ == "__main__":
    sys.exit(main())
