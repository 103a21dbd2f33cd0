"""What is wrong with a distiller's reply beyond its own fields: quotations that are none, copied patterns.

Patterns and descriptions are shipped with a program, so they must be the writer's own words and must not tell
which task they come from: a person who evaluates on that task could otherwise never know what was given away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from forethought.nodes.distiller.take import TaskRuns
from forethought.prompts.distill_replies import Aggregation, ComparativeDiagnosis, PatternSet, Quote
from forethought.trajectories.questions import framed, normalised, word_sequences
from forethought.trajectories.quotes import misquoted
from forethought.trajectories.show import all_text, whole_text
from forethought.trajectories.types import Outcome

COPIED_WORDS = 8
"""Consecutive words in common with a run from which a text counts as copied."""
_QUESTION_WORDS = 3
"""Minimum words of a task whose text is searched for in a pattern."""


def diagnosis_problem(reply: ComparativeDiagnosis, runs: TaskRuns) -> str | None:
    """Why the evidence of a comparative diagnosis cannot be right, all reasons in one line."""
    problems: list[str] = []
    for number, error in enumerate(reply.errors, 1):
        if not slug(error.error_type):
            problems.append(f"errors[{number}]: error_type is empty: name the error")
        evidence: tuple[tuple[Outcome, list[Quote]], ...] = (
            ("failure", error.failure_evidence),
            ("success", error.success_evidence),
        )
        for outcome, quotes in evidence:
            wrong = [problem for quote in quotes if (problem := _quote_problem(quote, outcome, runs))]
            problems += [f"errors[{number}].{outcome}_evidence: {problem}" for problem in wrong]
    return "; ".join(problems[:6]) or None


def _quote_problem(quote: Quote, outcome: Outcome, runs: TaskRuns) -> str | None:
    if problem := runs.label_problem(quote.run, outcome):
        return problem
    texts = {step.number: all_text(step) for step in runs.trajectories[quote.run].steps}
    if not texts:
        return f"{quote.run} has no steps to quote from"
    if quote.step not in texts:
        return f"{quote.run} has no step {quote.step}: its steps are {min(texts)} to {max(texts)}"
    return misquoted(quote.quote, texts, quote.step, f" of {quote.run}")


def aggregation_problem(reply: Aggregation, names: Sequence[str], copies: Copies) -> str | None:
    """Why a decision on an entry cannot be carried out."""
    name = slug(reply.name)
    if reply.decision == "discard":
        return None
    if reply.decision == "merge" and name not in names:
        known = ", ".join(names) or "none"
        return f"merge: there is no error {reply.name!r} in the set; use one of: {known}"
    if reply.decision == "new" and name in names:
        return f"new: the name {name} is already in the set; choose another name, or merge"
    if not name:
        return f"{reply.name!r} is not a valid name: write two to five words in snake_case"
    if not reply.description.strip():
        return f"{reply.decision} needs the error's full description"
    problem = copies.problem(reply.description)
    return f"description: {problem}" if problem else None


def patterns_problem(
    reply: PatternSet, cases: Mapping[int, TaskRuns], copies: Copies, *, least_failures: int
) -> str | None:
    """Why patterns cannot be shipped, all reasons in one line."""
    problems = []
    for kind, outcome, patterns in (
        ("failures", "failure", reply.failures),
        ("successes", "success", reply.successes),
    ):
        retold: set[tuple[int, str]] = set()
        for number, pattern in enumerate(patterns, 1):
            runs = cases.get(pattern.case)
            source = (pattern.case, pattern.run)
            if runs is None:
                known = ", ".join(map(str, cases))
                problem: str | None = f"there is no case {pattern.case}: the cases are {known}"
            elif label_problem := runs.label_problem(pattern.run, outcome):
                problem = f"case {pattern.case}: {label_problem}"
            elif source in retold:
                problem = f"run {pattern.run} of case {pattern.case} is described twice; keep one"
            else:
                problem = copies.problem(pattern.text)
            retold.add(source)
            if problem:
                problems.append(f"{kind}[{number}]: {problem}")
    if len(reply.failures) < least_failures:
        problems.append(f"{len(reply.failures)} failures are too few; write {least_failures} or more")
    return "; ".join(problems[:6]) or None


@dataclass(frozen=True)
class Copies:
    """What a text must not copy: some tasks, their runs, and telling answers of these."""

    phrases: Mapping[str, str]
    """Normalised, each with what it is."""

    @classmethod
    def of(cls, tasks: Iterable[TaskRuns]) -> Copies:
        """Of these tasks and all their runs."""
        phrases: dict[str, str] = {}
        for runs in tasks:
            if len(normalised(runs.task).split()) >= _QUESTION_WORDS:
                phrases[normalised(runs.task)] = "repeats the text of a task: leave the subject out"
            texts = {"the task": runs.task}
            for label, outcome, trajectory in runs.labelled():
                texts[f"run {label}"] = whole_text(trajectory)
                answer = trajectory.answer
                if outcome == "success" and _tells(answer):
                    phrases[normalised(answer)] = "repeats the answer of a run: leave the subject out"
            for place, text in texts.items():
                copied = f"is copied word for word from {place}: use your own words"
                phrases |= dict.fromkeys(word_sequences(text, COPIED_WORDS), copied)
        return cls(phrases)

    def problem(self, text: str) -> str | None:
        """What is copied in `text`, with the words, so that they can be put otherwise."""
        plain = framed(text)
        copies = ((phrase, what) for phrase, what in self.phrases.items() if f" {phrase} " in plain)
        return next((f'"{phrase}" {what}' for phrase, what in copies), None)


def _tells(answer: str) -> bool:
    """Whether an answer could give its task away: a name or several words, but no yes, no or single word."""
    words = normalised(answer).split()
    return 2 <= len(words) <= COPIED_WORDS or (len(words) == 1 and len(words[0]) > 3 and answer[:1].isupper())


def slug(text: str) -> str:
    """`text` as a name is written: lower case, single underscores, a letter first; '' if nothing is left."""
    return re.sub(r"[^a-z0-9]+", "_", normalised(text)).strip("_").lstrip("0123456789_")
