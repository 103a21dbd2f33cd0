"""Offers all advice to the gate, and prints the table."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections import Counter
from collections.abc import Mapping

from benchmarks.adoption.gate import MODEL, opened
from benchmarks.adoption.model import Candidate, PlanningModel, candidates
from benchmarks.adoption.tasks import tasks
from forethought.experience.advice import State
from forethought.state.learner import LearnerContext

STATES: tuple[State, ...] = ("adopted", "probation", "dropped")


async def weighed(given: argparse.Namespace) -> Mapping[str, Counter[str]]:
    """How often each group's advice got each state."""
    made = tasks(given.per_kind, given.seed)
    model = PlanningModel(made, given.noise, given.seed)
    calls = 3 + 2 * given.runs + given.past
    context = LearnerContext(model=MODEL, runs=given.runs, past=given.past, max_calls=calls)
    groups: dict[str, Counter[str]] = {
        "useful": Counter(),
        "changes nothing": Counter(),
        "breaks plans": Counter(),
    }
    async with opened(made, model, context) as gate:
        for candidate in candidates():
            groups[_group(candidate)][(await gate.weigh(candidate)).state] += 1
    return groups


def _group(candidate: Candidate) -> str:
    if candidate.about is None:
        return "changes nothing"
    return "useful" if candidate.useful else "breaks plans"


def table(groups: Mapping[str, Counter[str]]) -> str:
    """The table, as Markdown."""
    lines = [f"| advice | {' | '.join(STATES)} |", "| :-- |" + " --: |" * len(STATES)]
    for name, counts in groups.items():
        lines.append(f"| {name} | {' | '.join(str(counts[state]) for state in STATES)} |")
    return "\n".join(lines)


def main() -> None:
    """See the package."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.adoption", description=__doc__)
    parser.add_argument("--per-kind", type=int, default=16, help="past tasks of each kind (default: 16)")
    parser.add_argument("--noise", type=float, default=0.05, help="share of turned plans (default: 0.05)")
    parser.add_argument("--runs", type=int, default=3, help="re-runs with and without advice (default: 3)")
    parser.add_argument("--past", type=int, default=3, help="past tasks replayed (default: 3)")
    parser.add_argument("--seed", type=int, default=0, help="seed of tasks and noise (default: 0)")
    os.environ.setdefault("OPENAI_API_KEY", "unused")
    print(table(asyncio.run(weighed(parser.parse_args()))))


if __name__ == "__main__":
    main()
