"""Replies of tools that say that a call went wrong, counted over runs by rules alone.

A source seldom records that a call failed; most tools say so in words. A reply counts as an error where the
source says so, or where its beginning reads as one and comes back in another run. Replies are compared by
their shape: digits, and what stands in brackets or quotes, may differ.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from forethought.text import one_line
from forethought.trajectories.types import Trajectory, TrajectoryStep

_ERROR = re.compile(
    r"\b(?:error|exception|traceback|fail(?:ed|ure|s)?|invalid|illegal|not found|no results?|not supported"
    r"|could(?: not|n't)|can(?:not| not|'t)|unable|denied|forbidden|unauthori[sz]ed|time[ds]? ?out"
    r"|unavailable|refused|unknown|unrecogni[sz]ed|rate limit|nothing happens)\b",
    re.IGNORECASE,
)
_VARIES = re.compile(r"\[.*?\]|\".*?\"|'[^']*'(?!\w)|`.*?`|\S*\d\S*")
_BEGINNING = 80
"""Maximum characters of a reply in which words such as `not found` mean an error."""
_SHAPE = 60


@dataclass(frozen=True)
class ToolError:
    """One error that a tool gave in more than one run."""

    tool: str
    """'' if the source names no tools."""
    reply: str
    """The first such reply, on one line."""
    steps: dict[str, list[int]]
    """The steps with it, by the run's id."""
    calls: int = 0
    """Calls of this tool in all runs."""
    succeeded: int = 0
    """Runs with it that succeeded."""

    @property
    def count(self) -> int:
        """How many replies there were."""
        return sum(map(len, self.steps.values()))


def recurring_tool_errors(
    runs: Sequence[Trajectory], succeeded: Sequence[Trajectory] = ()
) -> list[ToolError]:
    """The tool errors that two runs or more share, of several tasks where there are several; those of the
    most runs first. `succeeded` are other runs, which the errors are looked for in."""
    found: dict[tuple[str, str], ToolError] = {}
    tasks: dict[tuple[str, str], set[str]] = {}
    for run in runs:
        for key, number, reply in _errors(run):
            error = found.setdefault(key, ToolError(key[0], one_line(reply, 200), {}))
            error.steps.setdefault(run.id, []).append(number)
            tasks.setdefault(key, set()).add(run.task_key)
    calls = Counter(step.tool for run in runs for step in run.steps)
    spared = Counter(key for run in succeeded for key in {key for key, *_ in _errors(run)})
    least = 1 if len({run.task_key for run in runs}) == 1 else 2
    shared = [
        replace(error, calls=calls[error.tool], succeeded=spared[key])
        for key, error in found.items()
        if len(error.steps) > 1 and len(tasks[key]) >= least
    ]
    return sorted(shared, key=lambda each: (-len(each.steps), -each.count))


def _errors(run: Trajectory) -> Iterator[tuple[tuple[str, str], int, str]]:
    """The tool and shape of each error, its step, and the reply."""
    for step in run.steps:
        if reply := error_text(step):
            yield (step.tool, _VARIES.sub("…", reply)[:_SHAPE].casefold()), step.number, reply


def error_text(step: TrajectoryStep) -> str:
    """The first line of a reply that reads as an error, or of a failure on record; '' of any other."""
    said = step.observation.strip()
    with suppress(ValueError):
        value = json.loads(said)
        if isinstance(value, dict):
            said = next(
                (str(value[name]) for name in ("error", "message", "detail") if value.get(name)), said
            )
    line = said.split("\n", 1)[0].strip()
    is_error = step.failure in ("tool_execution_error", "environment_error")
    if is_error:
        return line or "(no reply)"
    return line if _ERROR.search(line[:_BEGINNING]) else ""
