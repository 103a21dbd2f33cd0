"""What is wrong with a distiller's reply beyond its own fields: quotations that are none, copied patterns.

Patterns and descriptions are shipped with a program, so they must be the writer's own words and must not tell
which task they come from: a person who evaluates on that task could otherwise never know what was given away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from forethought.collecting.questions import framed, normalised
from forethought.nodes.distiller.runs import TaskRuns, said
from forethought.prompts.distill_replies import (
    Aggregation,
    ComparativeDiagnosis,
    PatternSet,
    Quote,
    WrittenPattern,
)
from forethought.text import one_line
from forethought.trajectories.quotes import occurs
from forethought.trajectories.types import Trajectory

COPIED_WORDS = 8
"""Words in a row that stand in a run too: from so many on, a text is copied."""
_QUESTION_WORDS = 3
"""Words that a task needs for its text to be looked for in a pattern."""
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def diagnosis_problem(reply: ComparativeDiagnosis, runs: TaskRuns) -> str | None:
    """Why the evidence of a comparative diagnosis cannot be right, all reasons in one line."""
    problems: list[str] = []
    for number, error in enumerate(reply.errors, 1):
        if not slug(error.error_type):
            problems.append(f"errors[{number}]: error_type names nothing")
        for kind, letter, quotes in (
            ("failure_evidence", "F", error.failure_evidence),
            ("success_evidence", "S", error.success_evidence),
        ):
            found = [problem for quote in quotes if (problem := _quote_problem(quote, letter, runs))]
            problems += [f"errors[{number}].{kind}: {problem}" for problem in found]
    return "; ".join(problems[:6]) or None


def _quote_problem(quote: Quote, letter: str, runs: TaskRuns) -> str | None:
    if problem := runs.label_problem(quote.run):
        return problem
    if not quote.run.startswith(letter):
        wanted = "failed (F)" if letter == "F" else "successful (S)"
        return f"{quote.run} is no {wanted} run"
    trajectory = runs.trajectories[quote.run]
    numbers = [step.number for step in trajectory.steps]
    if not numbers:
        return f"{quote.run} has no steps to quote from"
    if quote.step not in numbers:
        return f"{quote.run} has no step {quote.step}: its steps are {numbers[0]} to {numbers[-1]}"
    if occurs(quote.quote, said(trajectory.step(quote.step))):
        return None
    elsewhere = [str(step.number) for step in trajectory.steps if occurs(quote.quote, said(step))]
    found = f" (it stands in step {', '.join(elsewhere[:3])})" if elsewhere else ""
    return (
        f'"{one_line(quote.quote, 120)}" does not stand in step {quote.step} of {quote.run}{found}: copy one '
        "passage of that step letter by letter"
    )


def aggregation_problem(reply: Aggregation, names: Sequence[str], copies: Copies) -> str | None:
    """Why a decision on an entry cannot be carried out."""
    name = slug(reply.name)
    known = ", ".join(names) or "none"
    if reply.decision == "discard":
        return None
    if reply.decision == "merge" and name not in names:
        return f"merge: there is no error {reply.name!r} in the set; its errors are: {known}"
    if reply.decision == "new" and name in names:
        return f"new: the name {name} is in the set; choose another, or merge into it"
    if not _NAME.fullmatch(name) or len(name) > 80:
        return f"{reply.name!r} is no name: write two to five words in snake_case"
    if not reply.description.strip():
        return f"{reply.decision} needs the error's whole description"
    problem = copies.problem(reply.description)
    return f"description: {problem}" if problem else None


def patterns_problem(
    reply: PatternSet, cases: Mapping[int, TaskRuns], copies: Copies, *, least_failures: int
) -> str | None:
    """Why patterns cannot be shipped, all reasons in one line."""
    problems = []
    for kind, letter, patterns in (("failures", "F", reply.failures), ("successes", "S", reply.successes)):
        retold: set[tuple[int, str]] = set()
        for number, pattern in enumerate(patterns, 1):
            place = (pattern.case, pattern.run)
            problem = _place_problem(pattern, letter, cases) or copies.problem(pattern.text)
            if problem is None and place in retold:
                problem = f"run {pattern.run} of case {pattern.case} is retold twice; keep one"
            retold.add(place)
            if problem:
                problems.append(f"{kind}[{number}]: {problem}")
    if len(reply.failures) < least_failures:
        problems.append(f"{len(reply.failures)} failures are too few; write {least_failures} or more")
    return "; ".join(problems[:6]) or None


def _place_problem(pattern: WrittenPattern, letter: str, cases: Mapping[int, TaskRuns]) -> str | None:
    runs = cases.get(pattern.case)
    if runs is None:
        return f"there is no case {pattern.case}: the cases are {', '.join(map(str, cases))}"
    if problem := runs.label_problem(pattern.run):
        return f"case {pattern.case}: {problem}"
    if not pattern.run.startswith(letter):
        return f"{pattern.run} has the other outcome"
    return None


@dataclass(frozen=True)
class Copies:
    """What a text must not copy: the runs of some tasks, and the tasks themselves."""

    sequences: Mapping[tuple[str, ...], str]
    """COPIED_WORDS words in a row, and where they stand."""
    questions: tuple[str, ...]
    """The tasks, normalised."""
    answers: tuple[str, ...] = ()
    """What successful runs answered, normalised, where it tells: names, or several words."""

    @classmethod
    def of(cls, tasks: Iterable[TaskRuns]) -> Copies:
        """Of these tasks and all their runs."""
        sequences: dict[tuple[str, ...], str] = {}
        questions, answers = [], []
        for runs in tasks:
            right = [
                runs.trajectories[run["label"]].answer for run in runs.runs if run["outcome"] == "success"
            ]
            answers += [normalised(answer) for answer in right if _tells(answer)]
            questions.append(normalised(runs.task))
            sequences.update(dict.fromkeys(_sequences(runs.task), "the task"))
            for label, trajectory in runs.trajectories.items():
                sequences.update(dict.fromkeys(_of_run(trajectory), f"run {label}"))
        return cls(sequences, tuple(questions), tuple(dict.fromkeys(answers)))

    def problem(self, text: str) -> str | None:
        """What is copied in `text`, with the words, so that they can be put otherwise."""
        plain = framed(text)
        for question in self.questions:
            if question.count(" ") + 1 >= _QUESTION_WORDS and f" {question} " in plain:
                return "it holds the text of a task: tell it without its subject"
        for answer in self.answers:
            if f" {answer} " in plain:
                return f'"{answer}" is the answer of a run: tell it without its subject'
        for words in _sequences(text):
            if words in self.sequences:
                return (
                    f'"{" ".join(words)}" stands word for word in {self.sequences[words]}: say it in words '
                    "of your own"
                )
        return None


def _tells(answer: str) -> bool:
    """Whether an answer could give its task away: a name or several words, but no yes, no or single word."""
    words = normalised(answer).split()
    return 2 <= len(words) <= COPIED_WORDS or (len(words) == 1 and len(words[0]) > 3 and answer[:1].isupper())


def _of_run(trajectory: Trajectory) -> Iterable[tuple[str, ...]]:
    for step in trajectory.steps:
        for part in (step.given, step.memory, step.reflection, step.planning, step.action, step.observation):
            yield from _sequences(part)
    yield from _sequences(trajectory.answer)


def _sequences(text: str) -> Iterable[tuple[str, ...]]:
    """All COPIED_WORDS words in a row."""
    words = normalised(text).split()
    return zip(*(words[at:] for at in range(COPIED_WORDS)), strict=False)


def slug(text: str) -> str:
    """`text` as a name is written: lower case, single underscores, a letter first; '' if nothing is left."""
    return re.sub(r"[^a-z0-9]+", "_", normalised(text)).strip("_").lstrip("0123456789_")
