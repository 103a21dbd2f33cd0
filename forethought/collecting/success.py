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
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from forethought.models.ask import Models
from forethought.models.types import Message, ReplyError, Usage, no_usage, reply_spec
from forethought.prompts.debug_replies import Judgement
from forethought.prompts.render import render
from forethought.text import one_line
from forethought.trajectories.questions import normalised
from forethought.trajectories.tasks import CollectTask
from forethought.trajectories.types import Outcome, Trajectory

Method = Literal["exact", "f1", "model"]
_LISTED = 10
"""Most checkers that are listed."""
_LEAD = re.compile(r"\s*(?:the\s+)?(?:final\s+)?answer\s*(?:is\s*:?|:)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class RunOutcome:
    """A run's outcome and who decided it."""

    outcome: Outcome
    by: str
    reason: str
    usage: Usage = field(default_factory=no_usage)


RunJudge = Callable[[CollectTask, Trajectory], Awaitable[RunOutcome]]
"""Judge a run of a task. Raises the ModelErrors but ReplyError where a model judges."""


def judge_for(task: CollectTask, method: Method, least_f1: float, models: Models, model: str) -> RunJudge:
    """Who judges the runs of `task`. Raises ValueError when its checker cannot be loaded."""
    if task.checker:
        return checker_judge(task.checker, load_function(task.checker))
    if method == "model":
        return model_judge(models, model)
    return f1_judge(least_f1) if method == "f1" else exact_match


async def exact_match(task: CollectTask, trajectory: Trajectory) -> RunOutcome:
    """Right is an answer with the words of an accepted one: case, articles and punctuation do not count."""
    words = _words(trajectory.answer)
    right = bool(words) and any(words == _words(text) for text in task.expected)
    return _outcome(right, "exact", "an accepted answer")


def f1_judge(least: float) -> RunJudge:
    """Right is an answer whose words overlap with an accepted one's by an F1 of `least` or more."""

    async def judge(task: CollectTask, trajectory: Trajectory) -> RunOutcome:
        best = max(f1(trajectory.answer, text) for text in task.expected)
        return _outcome(best >= least, "f1", f"F1 {least:g} or more (it is {best:.2f})")

    return judge


def model_judge(models: Models, model: str) -> RunJudge:
    """A model that holds the answer against the accepted ones. What came before it is not shown: it could
    talk the judge round."""

    async def judge(task: CollectTask, trajectory: Trajectory) -> RunOutcome:
        if not trajectory.answer.strip():
            return _outcome(False, "model", "an answer")
        system, user = render(
            "collect_judge", task=task.task, accepted=list(task.expected), answer=trajectory.answer
        )
        try:
            result = await models.ask(
                role="judge",
                model=model,
                messages=[Message("system", system), Message("user", user)],
                reply=reply_spec(Judgement),
            )
        except ReplyError as error:
            return RunOutcome("unknown", "model", f"the judge gave no usable verdict: {error}", error.usage)
        outcome: Outcome = "success" if result.reply.correct else "failure"
        return RunOutcome(outcome, "model", result.reply.reasoning, result.usage)

    return judge


def checker_judge(name: str, check: Callable[[str, dict[str, Any]], Any]) -> RunJudge:
    """A function of the person who collects: (answer, task) -> whether it is right, or a share of 1. Whatever
    it raises makes the outcome unknown, and is told."""

    async def judge(task: CollectTask, trajectory: Trajectory) -> RunOutcome:
        fields = {"id": task.id, "task": task.task, "files": list(task.files)}
        try:
            value = await asyncio.to_thread(check, trajectory.answer, fields)
            if inspect.isawaitable(value):
                value = await value
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".rstrip(": ")
            return RunOutcome("unknown", "checker", f"{name} failed: {one_line(reason, 300)}")
        if not isinstance(value, bool | int | float):
            kind = type(value).__name__
            return RunOutcome("unknown", "checker", f"{name} must return True, False or a number, not {kind}")
        return _outcome(value >= 1 - 1e-6, "checker", f"what {name} accepts (it says {value})")

    return judge


def check_named(tasks: Sequence[CollectTask], named: Collection[str]) -> None:
    """Raises ValueError unless a person has named each checker of the tasks: a tasks file is data, and which
    function is run is nothing that it decides."""
    wanted = dict.fromkeys(task.checker for task in tasks if task.checker and task.checker not in named)
    if wanted:
        flags = " ".join(f"--checker {name}" for name in list(wanted)[:_LISTED])
        more = f" (and {len(wanted) - _LISTED} more)" if len(wanted) > _LISTED else ""
        raise ValueError(f"the tasks are to be judged by code that is not named yet: give {flags}{more}")


def load_function(spec: str) -> Callable[..., Any]:
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
        raise ValueError(f"{spec}: {type(error).__name__}: {one_line(error)}") from error
    if not callable(found):
        raise ValueError(f"{spec}: it is no function")
    function: Callable[..., Any] = found
    return function


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


def _outcome(right: bool, by: str, wanted: str) -> RunOutcome:
    reason = f"the answer is {'' if right else 'not '}{wanted}"
    return RunOutcome("success" if right else "failure", by, reason)
