"""Measure the grid and write results.json, table.md and plots.

    make bench [QUICK=1] [BENCH="--out DIR --only 'ours, auto;create_agent' --docs"]

Exits with 1 where one of ours failed. Results are written after every cell, so a run may be broken off.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.peers import plots, report
from benchmarks.peers.grid import CONTENDERS, Cell, cells, settings
from benchmarks.peers.server import served

Json = dict[str, Any]
_PACKAGES = ("langchain", "langgraph", "langchain-openai", "openai", "httpx", "smolagents")
_PAGE, _FIGURES = (
    Path("docs/performance.md"),
    re.compile("(?<=<!-- figures -->\n).*(?=<!-- /figures -->)", re.DOTALL),
)


def start(module: str, log: Path) -> subprocess.Popen[str]:
    """The worker of a framework."""
    command = [sys.executable, "-m", "benchmarks.peers.worker", module]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, text=True, bufsize=1, stdin=pipe, stdout=pipe, stderr=log.open("a"))


def measure(cell: Cell, worker: subprocess.Popen[str], url: str) -> Json:
    """The figures of a cell, and why it failed ('' if it did not)."""
    asked = {**asdict(cell.setting), "repeats": cell.setting.repeats, "url": url}
    line = ""
    if worker.poll() is None and worker.stdin and worker.stdout:
        worker.stdin.write(json.dumps({**asked, "options": CONTENDERS[cell.contender][1]}) + "\n")
        line = worker.stdout.readline()
    sums = json.loads(line) if line else {"failed": "its framework could not be imported"}
    own = {} if sums["failed"] else report.figures(sums, cell.setting)
    return {"contender": cell.contender, "setting": str(cell.setting), "failed": sums["failed"], **own}


def machine() -> Json:
    """Where and with what it is measured."""
    now, load = datetime.now(UTC).isoformat(timespec="minutes"), round(os.getloadavg()[0], 1)
    where = {
        "Measured at": now,
        "cores": os.cpu_count(),
        "load before": load,
        "Python": platform.python_version(),
    }
    return where | {name: version(name) for name in _PACKAGES}


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="run a small grid in under three minutes")
    parser.add_argument("--out", type=Path, default=Path("build/peers"), help="folder (default build/peers)")
    parser.add_argument("--only", default=";".join(CONTENDERS), help="contenders, separated by semicolons")
    parser.add_argument("--docs", action="store_true", help=f"write the ratios into {_PAGE} too")
    given = parser.parse_args()
    names, chosen = given.only.split(";"), settings(given.quick)
    if unknown := set(names) - set(CONTENDERS):
        parser.error(f"there is no contender {min(unknown)!r}; choose from {'; '.join(CONTENDERS)}")
    given.out.mkdir(parents=True, exist_ok=True)
    results: Json = {"machine": machine(), "cells": []}
    workers: dict[str, subprocess.Popen[str]] = {}
    with served() as url:
        wanted = cells(chosen, names)
        for at, cell in enumerate(wanted, 1):
            module = CONTENDERS[cell.contender][0]
            if module not in workers:
                workers[module] = start(module, given.out / "log.txt")
            found = measure(cell, workers[module], url)
            results["cells"].append(found)
            (given.out / "results.json").write_text(json.dumps(results, indent=1))
            took = f"failed: {found['failed']}" if found["failed"] else f"{found['wall, s']:.2f} s"
            print(f"{at}/{len(wanted)} {cell.setting}: {cell.contender}: {took}", flush=True)
        for worker in workers.values():
            worker.communicate()
    table = report.Table(results, chosen, names)
    (given.out / "table.md").write_text(table.whole())
    plots.draw(table, given.out)
    if given.docs:
        text = f"{table.head()}\n\n{table.page()}\n"
        _PAGE.write_text(_FIGURES.sub(lambda _: text, _PAGE.read_text("utf-8")), "utf-8")
    print(f"\n{table.summary()}\n\nThe whole table, the plots and the JSON: {given.out}")
    return any(cell["failed"] and cell["contender"].startswith("ours") for cell in results["cells"])


if __name__ == "__main__":
    sys.exit(main())
