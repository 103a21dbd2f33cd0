"""The distiller's prompts: what never changes first, what is asked now last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forethought.knowledge.planning_errors import BRIEF_FAILURES
from forethought.models.types import Message
from forethought.nodes.distiller.take import TaskRuns
from forethought.prompts.render import prompt_messages
from forethought.state.distiller import DistillerContext, Entry, GrownError
from forethought.trajectories.show import run_texts, task_text, world_text


@dataclass(frozen=True)
class Case:
    """One entry with its task's runs, as the patterns of its error are written from it."""

    number: int
    entry: Entry
    runs: TaskRuns

    @property
    def cited(self) -> set[str]:
        """Labels of the runs that the entry's evidence is from."""
        return {item["run"] for item in (*self.entry["failure_evidence"], *self.entry["success_evidence"])}


def diagnosis_messages(runs: TaskRuns, context: DistillerContext) -> list[Message]:
    """3.2.1, diagnosis: one task's runs side by side."""
    texts = run_texts(runs.labelled(), context.max_observation_chars)
    had = dict.fromkeys(world_text(trajectory) for _, _, trajectory in runs.labelled())
    background = "\n\n".join(filter(None, had))
    return prompt_messages("distill_diagnose", task=task_text(runs.task), background=background, runs=texts)


def aggregation_messages(entry: Entry, errors: Mapping[str, GrownError]) -> list[Message]:
    """3.2.1, aggregation: one entry against the growing set."""
    known = [
        {"name": error["name"], "description": error["description"], "cases": len(error["entries"])}
        for error in errors.values()
    ]
    return prompt_messages("distill_aggregate", errors=known, finding=finding_text(entry))


def pattern_messages(error: GrownError, cases: Sequence[Case], context: DistillerContext) -> list[Message]:
    """3.2.1, aggregation: an error's failure and success patterns, from the runs that its entries cite."""
    runs_of_cases = [case.runs.labelled(sorted(case.cited)) for case in cases]
    # One bound of characters for all cases' runs together.
    texts = iter(run_texts([run for runs in runs_of_cases for run in runs], context.max_observation_chars))
    sections = [
        {
            "number": case.number,
            "task": task_text(case.runs.task),
            "finding": finding_text(case.entry, quotes=False),
            "runs": [next(texts) for _ in runs],
        }
        for case, runs in zip(cases, runs_of_cases, strict=True)
    ]
    return prompt_messages(
        "distill_patterns",
        name=error["name"],
        description=error["description"],
        cases=sections,
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
    evidence = (("failed", entry["failure_evidence"]), ("successful", entry["success_evidence"]))
    for outcome, items in evidence if quotes else ():
        lines += [f'{outcome} run {item["run"]}, step {item["step"]}: "{item["quote"]}"' for item in items]
    return "\n".join(lines)
