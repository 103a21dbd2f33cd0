"""Holds our NATURAL PLAN scores against the official ones, on generated rows with right and odd answers.

    git clone https://github.com/google-deepmind/natural-plan
    python benchmarks/agreement/natural_plan.py --repo natural-plan

The official function for meetings fails where a plan names somebody unknown. Such answers are compared twice:
with it as it is, and with look-ups that raise the error that it does catch.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

import natural_plan_rows as rows
from comparison import Comparison, finish, module_at, repo_argument, stand_in

from forethought.evals.benchmarks.natural_plan import BENCHMARK, judged

Json = dict[str, Any]
Official = Callable[[Json, str], bool]
ROWS = 300
_FILES = {"trip": "trip_planning", "meeting": "meeting_planning", "calendar": "calendar_scheduling"}
_GENERATORS = {"trip": rows.trip, "meeting": rows.meeting, "calendar": rows.calendar}


class Known(dict[str, Any]):
    """A mapping whose missing keys raise what the official walk catches."""

    def __missing__(self, key: str) -> NoReturn:
        raise ValueError(f"unknown: {key}")


def trip(official: ModuleType) -> Official:
    """The official score of a trip."""

    def score(row: Json, answer: str) -> bool:
        plan = official.parse_response(answer)
        return bool(official.compute_example_score(row["cities"], row["durations"], plan))

    return score


def calendar(official: ModuleType) -> Official:
    """The official score of a slot."""
    return lambda row, answer: bool(official.compute_solve_rate([answer], [row["golden_plan"]]))


def meeting(official: ModuleType, *, lenient: bool) -> Official:
    """The official score of a day of meetings; `lenient`: what is unknown ends the walk."""

    def score(row: Json, answer: str) -> bool:
        place, start = row["constraints"][0]
        friends = official.process_constraints(row["constraints"][1:])
        between = row["dist_matrix"]
        if lenient:
            friends = Known(friends)
            between = Known({name: Known(ways) for name, ways in between.items()})

        def met(steps: list[str]) -> int:
            with contextlib.redirect_stdout(io.StringIO()):
                return int(official.validator_from_text(steps, friends, place, start, between))

        return met(official.parse_text_plan(answer)) == met(row["golden_plan"])

    return score


def compared(title: str, task: str, official: Official) -> Comparison:
    """Both scorers on all answers to all rows; the rows go through a file and the benchmark's own reader."""
    found = Comparison(title)
    rng = random.Random(0)
    made = {f"{_FILES[task]}_example_{number}": _GENERATORS[task](rng) for number in range(ROWS)}
    with tempfile.TemporaryDirectory() as folder:
        text = json.dumps({id: row for id, (row, _) in made.items()})
        (Path(folder) / f"{_FILES[task]}.json").write_text(text, "utf-8")
        samples = {sample.id: sample for sample in BENCHMARK.samples(Path(folder), {"task": task})}
    for id, (row, answers) in made.items():
        for kind, answer in answers:
            ours, _ = judged(samples[id], answer)
            theirs, why = _tried(official, row, answer)
            found.add(theirs, ours, f"... {answer[-100:]}", f"{kind}: {why}" if why else "unexplained")
    return found


def _tried(official: Official, row: Json, answer: str) -> tuple[bool | str, str]:
    """The official verdict, or the error with which the official function fails, and a word on it."""
    try:
        return official(row, answer), ""
    except (KeyError, IndexError, ValueError) as error:
        name = type(error).__name__
        instead = "reads no plan" if isinstance(error, ValueError) else "ends the walk there"
        return name, f"the official function fails with {name}, ours {instead}"


def main() -> None:
    repo = repo_argument(__doc__, "google-deepmind/natural-plan").parse_args().repo
    stand_in("absl", app=SimpleNamespace(), flags=SimpleNamespace(DEFINE_string=lambda *_: None))
    code = {
        task: module_at(repo / f"evaluate_{file}.py", f"evaluate_{file}") for task, file in _FILES.items()
    }
    raise SystemExit(
        finish(
            [
                compared("NATURAL PLAN, trips", "trip", trip(code["trip"])),
                compared("NATURAL PLAN, meetings", "meeting", meeting(code["meeting"], lenient=False)),
                compared(
                    "NATURAL PLAN, meetings, with look-ups that raise ValueError",
                    "meeting",
                    meeting(code["meeting"], lenient=True),
                ),
                compared("NATURAL PLAN, calendars", "calendar", calendar(code["calendar"])),
            ]
        )
    )


if __name__ == "__main__":
    main()
