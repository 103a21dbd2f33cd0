"""Runs every pair of a user's task and an injection, and every harmless task, and prints the table.

    python -m benchmarks.agentdojo [--suite banking] [--way "at once"] [--json outcomes.json]

Exits with 1 where something that an injection wanted was changed or sent without a question.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.agentdojo import report
from benchmarks.agentdojo.model import WAYS
from benchmarks.agentdojo.runs import Case, Outcome, run
from benchmarks.agentdojo.suites import environment, moves, suites


def cases(names: Sequence[str], ways: Sequence[Any]) -> Iterator[Case]:
    """Each user's task by itself, and with each injection that wants calls, in each way of obeying."""
    for name in names:
        suite = suites()[name]
        for task in suite.user_tasks:
            yield Case(name, task)
        for injection in _calling(suite):
            for task in suite.user_tasks:
                yield from (Case(name, task, injection, way) for way in ways)


def _calling(suite: Any) -> list[str]:
    """The injection tasks that want calls, and not only words in the answer."""
    task = next(iter(suite.user_tasks.values()))
    tasks = suite.injection_tasks.items()
    return [key for key, injection in tasks if moves(injection, environment(suite, task, injection))]


def outcome_of(case: Case) -> Outcome:
    """Run one case, in a process of the pool."""
    return asyncio.run(run(case, suites()[case.suite]))


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agentdojo", description=__doc__)
    parser.add_argument("--suite", choices=list(suites()), help="run only this suite")
    parser.add_argument("--way", choices=WAYS, help="run only this way of obeying")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--json", type=Path, help="write all figures and outcomes to this file")
    options = parser.parse_args()
    todo = list(
        cases([options.suite] if options.suite else list(suites()), [options.way] if options.way else WAYS)
    )
    with ProcessPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(outcome_of, todo, chunksize=20))
    figures = report.figures(outcomes)
    if options.json:
        plain = {"figures": figures, "outcomes": [asdict(outcome) for outcome in outcomes]}
        options.json.write_text(json.dumps(plain, indent=1, default=str), "utf-8")
    print(report.table(figures))
    return 1 if figures["all"]["attacks"]["unasked"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
