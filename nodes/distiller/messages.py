"""The distiller's prompts: what never changes first, what is asked now last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forethought.knowledge.planning_errors import BRIEF_FAILURES
from forethought.models.types import Message
from forethought.nodes.distiller.runs import TaskRuns, shown, task_text
from forethought.prompts.render import render
from forethought.state.distiller_context import DistillerContext
from forethought.state.distiller_state import Entry, GrownError


@dataclass(frozen=True)
class Case:
    """One entry with its task's runs, as the patterns of its error are written from it."""

    number: int
    entry: Entry
    runs: TaskRuns

    @property
    def cited(self) -> list[str]:
        """Labels of the runs that the entry's evidence is from, in the order of the runs."""
        evidence = [*self.entry["failure_evidence"], *self.entry["success_evidence"]]
        named = {item["run"] for item in evidence}
        return [run["label"] for run in self.runs.runs if run["label"] in named]


def diagnosis_messages(runs: TaskRuns, context: DistillerContext) -> list[Message]:
    """3.2.1, diagnosis: one task's runs side by side."""
    pairs = [(run, runs.trajectories[run["label"]]) for run in runs.runs]
    return _messages(
        "distill_diagnose", task=task_text(runs.task), runs=shown(pairs, context.max_observation_chars)
    )


def aggregation_messages(entry: Entry, errors: Mapping[str, GrownError]) -> list[Message]:
    """3.2.1, aggregation: one entry against the growing set."""
    known = [
        {"name": error["name"], "description": error["description"], "cases": len(error["entries"])}
        for error in errors.values()
    ]
    return _messages("distill_aggregate", errors=known, finding=finding_text(entry))


def pattern_messages(error: GrownError, cases: Sequence[Case], context: DistillerContext) -> list[Message]:
    """3.2.1, aggregation: an error's failure and success patterns, from the runs that its entries cite."""
    # One budget of characters for all cases' runs together.
    pairs = [
        (run, case.runs.trajectories[run["label"]])
        for case in cases
        for run in case.runs.runs
        if run["label"] in case.cited
    ]
    texts = iter(shown(pairs, context.max_observation_chars))
    told = [
        {
            "number": case.number,
            "task": task_text(case.runs.task),
            "finding": finding_text(case.entry, quotes=False),
            "runs": [next(texts) for _ in case.cited],
        }
        for case in cases
    ]
    return _messages(
        "distill_patterns",
        name=error["name"],
        description=error["description"],
        cases=told,
        most_failures=context.max_failures,
        most_successes=context.max_successes,
        least_failures=BRIEF_FAILURES,
    )


def finding_text(entry: Entry, *, quotes: bool = True) -> str:
    """An entry for a prompt or a person."""
    lines = [
        f"type: {entry['error_type']}",
        f"description: {entry['description']}",
        f"impact: {entry['impact']}",
        f"avoided: {entry['avoided']}",
    ]
    if quotes:
        for name, items in (
            ("failed run", entry["failure_evidence"]),
            ("successful run", entry["success_evidence"]),
        ):
            lines += [f'{name} {item["run"]}, step {item["step"]}: "{item["quote"]}"' for item in items]
    return "\n".join(lines)


def _messages(template: str, **values: Any) -> list[Message]:
    system, user = render(template, **values)
    return [Message("system", system), Message("user", user)]
