"""How recorded debuggings agree with annotated critical errors and with each other, and what they cost.

    python -m benchmarks.debugging_agreement [RECORD.json ...]

A record is what `forethought debug RUNS --failed --json` prints of the runs that benchmarks/annotated_runs.py
writes. Without arguments, the records in docs/evaluations are compared. `accepted` counts the labels that the
annotator accepts as well; `last step` is what naming the last step of each run comes to. `longer` are the
runs of more than 4 steps: of shorter ones both methods label every step.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks.annotated_runs import LABELS
from forethought.nodes.debugger.search import wilson
from forethought.prompts.debug_replies import MOST_SUSPECTS

RECORDS = [LABELS.with_name(f"debugging-{method}.json") for method in ("agentdebug", "triage")]
Json = Mapping[str, Any]
Place = tuple[Any, ...]
"""Step, module and type of an error, in this order; () where none was found."""


def place(error: Json | None) -> Place:
    """Where an error is, and of which type."""
    return (error["critical_step"], error["critical_module"], error["error_type"]) if error else ()


def agreement(title: str, pairs: Iterable[tuple[Place, Sequence[Place]]], measures: int = 3) -> str:
    """A row of a table: how often what was found is among what is accepted, by step, then with module and
    then with type. `measures` says how many of these are had."""
    compared = [(found, accepted) for found, accepted in pairs if any(accepted)]
    cells = [title, str(len(compared))]
    for parts in range(1, measures + 1):
        agree = sum(found[:parts] in [one[:parts] for one in accepted if one] for found, accepted in compared)
        low, high = wilson(agree, len(compared))
        cells.append(f"{agree} ({low:.2f}-{high:.2f})")
    return f"| {' | '.join(cells)} |" + " |" * (3 - measures)


def cost(title: str, runs: Iterable[Json]) -> str:
    """Calls and tokens of these runs' debuggings."""
    used = [run["usage"] for run in runs]
    calls, read, written = (sum(u[key] for u in used) for key in ("calls", "input_tokens", "output_tokens"))
    return f"{title}: {calls} calls, {read:,} + {written:,} tokens"


def main() -> None:
    """Print the table of agreement, and the costs."""
    labels = json.loads(LABELS.read_text("utf-8"))["runs"]
    by_method: dict[str, dict[str, Json]] = {}
    for file in map(Path, sys.argv[1:] or RECORDS):
        record = json.loads(file.read_text("utf-8"))
        by_method[file.stem.removeprefix("debugging-")] = {run["id"]: run for run in record["runs"]}
    rows, costs = [], []
    for title, most in (("annotation", 1), ("accepted", None)):
        errors = {row["trajectory_id"]: (row["critical_error"], *row["also_acceptable"]) for row in labels}
        known = {id: [place(error) for error in accepted[:most]] for id, accepted in errors.items()}
        for name, runs in by_method.items():
            pairs = ((place(run["critical"]), known[id]) for id, run in runs.items())
            rows.append(agreement(f"{name}, {title}", pairs))
        last = (((run["steps"],), known[id]) for id, run in runs.items())
        rows.append(agreement(f"last step, {title}", last, 1))
    for (name, runs), (other, others) in combinations(by_method.items(), 2):
        ids = [id for id, run in runs.items() if run["steps"] > MOST_SUSPECTS]
        pairs = ((place(runs[id]["critical"]), [place(others[id]["critical"])]) for id in ids)
        rows.append(agreement(f"{name} and {other}, longer", pairs))
    for name, runs in by_method.items():
        costs += [cost(name, runs.values())]
        costs += [cost(f"{name}, longer", (r for r in runs.values() if r["steps"] > MOST_SUSPECTS))]
    print("| compared | runs | step | and module | and type |\n|---|---|---|---|---|")
    print("\n".join((*rows, "", *costs)))


if __name__ == "__main__":
    main()
