"""NATURAL PLAN's scores, on the golden plans of its data and on answers that are nearly right.

The checkout is google-deepmind/natural-plan, with its folder data. Where its function for meetings fails (a
person or place that is unknown, a sentence that breaks off), ours ends the walk there.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.agreement.comparison import Comparison, near_misses, official_module
from forethought.evals.benchmarks.natural_plan import BENCHMARK, judge_answer
from forethought.evals.environments.worker import stand_in

Json = dict[str, Any]
Official = Callable[[Any, Json, str], bool]
ROWS = 300
"""Of each task."""


def _trip(code: Any, row: Json, answer: str) -> bool:
    plan = code.parse_response(answer)
    return bool(code.compute_example_score(row["cities"], row["durations"], plan))


def _calendar(code: Any, row: Json, answer: str) -> bool:
    return bool(code.compute_solve_rate([answer], [row["golden_plan"]]))


def _meeting(code: Any, row: Json, answer: str) -> bool:
    place, start = row["constraints"][0]
    friends = code.process_constraints(row["constraints"][1:])

    def met(steps: list[str]) -> int:
        with contextlib.redirect_stdout(io.StringIO()):
            return int(code.validator_from_text(steps, friends, place, start, row["dist_matrix"]))

    return met(code.parse_text_plan(answer)) == met(row["golden_plan"])


_TASKS: dict[str, tuple[str, Official]] = {
    "trip": ("trip_planning", _trip),
    "meeting": ("meeting_planning", _meeting),
    "calendar": ("calendar_scheduling", _calendar),
}


def _text(row: Json) -> str:
    golden = row["golden_plan"]
    return golden if isinstance(golden, str) else " ".join(golden)


def compare(natural_plan: Path) -> Iterable[Comparison]:
    """Both scorers on answers near the golden plan of each row, those of other rows among them."""
    stand_in(quiet=("absl",))
    for task, (file, score) in _TASKS.items():
        code = official_module(natural_plan / f"evaluate_{file}.py", f"evaluate_{file}")
        rows = json.loads((natural_plan / "data" / f"{file}.json").read_text("utf-8"))
        found, rng = Comparison(f"NATURAL PLAN, {task}"), random.Random(0)
        golden = [_text(row) for row in rows.values()]
        samples = BENCHMARK.samples(natural_plan, {"task": task})
        for sample in rng.sample(samples, min(ROWS, len(samples))):
            for answer in near_misses(_text(rows[sample.id]), golden, rng):
                ours, _ = judge_answer(sample, answer)
                case = f"{sample.id} ... {answer[-100:]}"
                try:
                    found.add(score(code, rows[sample.id], answer), ours, case)
                except (KeyError, IndexError, ValueError) as error:
                    name = type(error).__name__
                    found.add(name, ours, case, f"the official function fails with {name}")
        yield found
