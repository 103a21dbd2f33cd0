"""A long run as a model is told it: what a prompt holds of the trajectory is bounded, however many
steps there are.

The newest steps stand one by one, with less of each observation and of its call's arguments the more there
are; those before them are a line a subtask. So it is with results, memories, rounds, earlier tasks and
finished subtasks. A run of ordinary length is told whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from forethought.state.agent import Step
from forethought.text import one_line

T = TypeVar("T")
MANY = 150
"""Steps that are told one by one."""
MATERIAL_CHARS = 400_000
"""Characters of all observations told one by one together; of all results, and all memories, too."""
SAID_CHARS = 200_000
"""Characters of all that the models themselves wrote: arguments; rounds; the texts of earlier tasks."""
MOST_LINES = 200
"""Lines about the steps before them."""
_LEAST_CHARS = 400
LINE_CHARS = 200
"""Characters of a text that is told in one line."""


def split(items: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """Those that are condensed, and the newest, which are told one by one."""
    return items[:-MANY], items[-MANY:]


def share(whole: int, count: int, material: int = MATERIAL_CHARS) -> int:
    """How many characters each of `count` texts may have, of at most `whole`; `material` for all of them."""
    return max(_LEAST_CHARS, min(whole, material // max(count, 1)))


def said_share(count: int) -> int:
    """How many characters each of `count` texts may have that a model wrote."""
    return share(SAID_CHARS, count, SAID_CHARS)


def condensed(steps: Sequence[Step]) -> list[str]:
    """A line a subtask, in order; of very many subtasks the first ones share a line."""
    by_subtask: dict[str, list[Step]] = {}
    for step in steps:
        by_subtask.setdefault(step["subtask"], []).append(step)
    groups = list(by_subtask.values())
    lines = [_line(group) for group in groups[-MOST_LINES:]]
    first = [step for group in groups[:-MOST_LINES] for step in group]
    if first:
        subtasks = len(groups) - MOST_LINES
        lines.insert(0, f"{_span(first)}: {len(first)} steps of {subtasks} subtasks, {_failed(first)} failed")
    return lines


def _line(steps: Sequence[Step]) -> str:
    seen = [step["observation"] for step in steps if step["ok"]]
    head = one_line(seen[-1] if seen else steps[-1]["observation"], LINE_CHARS)
    return (
        f"{_span(steps)} [{steps[0]['subtask']}]: {len(steps)} steps, {_failed(steps)} failed; last: {head}"
    )


def _span(steps: Sequence[Step]) -> str:
    first, last = steps[0]["n"], steps[-1]["n"]
    return f"step {first}" if first == last else f"steps {first} to {last}"


def _failed(steps: Sequence[Step]) -> int:
    return sum(not step["ok"] for step in steps)
