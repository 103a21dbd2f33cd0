"""Whether a run succeeded: exact match, F1, a checker function, or a model that knows the accepted answers.

A run is never judged by what it says of itself (PreFlect 3.2.1 samples outcomes against known answers). Who
cannot judge says so: the outcome is then unknown, and the run counts for neither side.
"""

from __future__ import annotations

import asyncio
import inspect
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol

from forethought.models.ask import Models
from forethought.models.types import Message, ReplyError, Usage, no_usage, reply_spec
from forethought.prompts.debug_replies import Judgement
from forethought.prompts.render import render
from forethought.text import one_line
from forethought.trajectories.questions import normalised
from forethought.trajectories.tasks import CollectTask
from forethought.trajectories.types import Outcome, Trajectory

Method = Literal["exact", "f1", "model"]
METHODS: tuple[Method, ...] = ("exact", "f1", "model")
_LISTED = 10
"""Most checkers that are listed."""
_LEAD = re.compile(r"\s*(?:the\s+)?(?:final\s+)?answer\s*(?:is\s*:?|:)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Verdict:
    """What a judge says of a run."""

    outcome: Outcome
    by: str
    reason: str
    usage: Usage = field(default_factory=no_usage)


class Judge(Protocol):
    """Judges the runs of one task."""

    async def judge(self, task: CollectTask, trajectory: Trajectory) -> Verdict:
        """The verdict. Raises the ModelErrors but ReplyError where a model judges."""
        ...


@dataclass(frozen=True)
class ExactMatch:
    """Right is an answer with the words of an accepted one: case, articles and punctuation do not count."""

    async def judge(self, task: CollectTask, trajectory: Trajectory) -> Verdict:
        """See `Judge`."""
        right = any(_words(trajectory.answer) == _words(text) for text in task.expected)
        return _verdict(right and bool(_words(trajectory.answer)), "exact", "an accepted answer")


@dataclass(frozen=True)
class LeastF1:
    """Right is an answer whose words overlap with an accepted one's by an F1 of `least` or more."""

    least: float = 0.8

    async def judge(self, task: CollectTask, trajectory: Trajectory) -> Verdict:
        """See `Judge`."""
        best = max(f1(trajectory.answer, text) for text in task.expected)
        return _verdict(best >= self.least, "f1", f"F1 {self.least:g} or more (it is {best:.2f})")


@dataclass(frozen=True)
class ModelJudge:
    """A model that holds the answer against the accepted ones. What came before it is not shown: it could
    talk the judge round."""

    models: Models
    model: str

    async def judge(self, task: CollectTask, trajectory: Trajectory) -> Verdict:
        """See `Judge`."""
        if not trajectory.answer.strip():
            return _verdict(False, "model", "an answer")
        system, user = render(
            "collect_judge", task=task.task, accepted=list(task.expected), answer=trajectory.answer
        )
        try:
            asked = await self.models.ask(
                role="judge",
                model=self.model,
                messages=[Message("system", system), Message("user", user)],
                reply=reply_spec(Judgement),
            )
        except ReplyError as error:
            return Verdict("unknown", "model", f"the judge gave no usable verdict: {error}", error.usage)
        outcome: Outcome = "success" if asked.reply.correct else "failure"
        return Verdict(outcome, "model", asked.reply.reasoning, asked.usage)


@dataclass(frozen=True)
class Checker:
    """A function of the person who collects: (answer, task) -> whether it is right, or a share of 1."""

    name: str
    function: Callable[[str, dict[str, Any]], Any]

    async def judge(self, task: CollectTask, trajectory: Trajectory) -> Verdict:
        """See `Judge`. Whatever the function raises makes the outcome unknown, and is told."""
        given = {"id": task.id, "task": task.task, "files": list(task.files)}
        try:
            said = await asyncio.to_thread(self.function, trajectory.answer, given)
            if inspect.isawaitable(said):
                said = await said
        except Exception as error:
            why = f"{type(error).__name__}: {error}".rstrip(": ")
            return Verdict("unknown", "checker", f"{self.name} failed: {one_line(why, 300)}")
        if not isinstance(said, bool | int | float):
            kind = type(said).__name__
            return Verdict(
                "unknown", "checker", f"{self.name} must return True, False or a number, not {kind}"
            )
        return _verdict(said >= 1 - 1e-6, "checker", f"what {self.name} accepts (it says {said})")


def check_named(tasks: Sequence[CollectTask], named: Collection[str]) -> None:
    """Raises ValueError unless a person has named each checker of the tasks: a tasks file is data, and which
    function is run is nothing that it decides."""
    wanted = dict.fromkeys(task.checker for task in tasks if task.checker and task.checker not in named)
    if wanted:
        flags = " ".join(f"--checker {name}" for name in list(wanted)[:_LISTED])
        more = f" (and {len(wanted) - _LISTED} more)" if len(wanted) > _LISTED else ""
        raise ValueError(f"the tasks are to be judged by code that is not named yet: give {flags}{more}")


def judge_for(task: CollectTask, method: Method, least_f1: float, models: Models, model: str) -> Judge:
    """Who judges the runs of `task`. Raises ValueError when its checker cannot be loaded."""
    if task.checker:
        return Checker(task.checker, load_checker(task.checker))
    if method == "model":
        return ModelJudge(models, model)
    return LeastF1(least_f1) if method == "f1" else ExactMatch()


def load_checker(spec: str) -> Callable[[str, dict[str, Any]], Any]:
    """The function that MODULE:NAME means; the module is the caller's own. Raises ValueError, in one line."""
    module, _, name = spec.partition(":")
    if str(Path.cwd()) not in sys.path:
        # Last, so that a file that happens to lie here takes no installed module's place.
        sys.path.append(str(Path.cwd()))
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:
        # Whatever the module does, the line has to name it.
        raise ValueError(f"checker {spec}: {type(error).__name__}: {' '.join(str(error).split())}") from error
    if not callable(found):
        raise ValueError(f"checker {spec}: it is no function")
    checker: Callable[[str, dict[str, Any]], Any] = found
    return checker


def f1(answer: str, accepted: str) -> float:
    """The harmonic mean of precision and recall of the answer's words, 0 to 1."""
    ours, theirs = Counter(_words(answer)), Counter(_words(accepted))
    common = (ours & theirs).total()
    return 2 * common / (ours.total() + theirs.total()) if common else 0.0


def _words(text: str) -> Sequence[str]:
    """The words that count; a number is one word with its sign and fraction, without its thousands marks."""
    lead = _LEAD.match(text)
    bare = (text[lead.end() :] if lead else text).replace("\u2212", "-")
    bare = re.sub(r"(?<=\d)[,\u00a0\u202f](?=\d{3}(?!\d))", "", bare)
    bare = re.sub(r"(?<=\d)\.(?=\d)", "point", re.sub(r"(?<![\w.)])-(?=\.?\d)", "minus", bare))
    return [word for word in normalised(bare).split() if word not in ("a", "an", "the")]


def _verdict(right: bool, by: str, wanted: str) -> Verdict:
    return Verdict("success" if right else "failure", by, f"the answer is {'' if right else 'not '}{wanted}")
