"""Plans for two at once, such as two fitters: read from an answer, judged, compared with the best."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Facts = Mapping[str, Any]
"""The facts of a task, plain JSON: `names` of the things to plan, the two `owners`, and more by kind."""
Plan = tuple[Sequence[str], Sequence[str]]
"""The things of the first and of the second owner, in order."""
Worth = Callable[[Plan, Facts], int | None]
"""Gives the worth of a plan, more is better; None for a plan that breaks a rule."""
Best = Callable[[Facts], int]
"""Gives the highest worth of any plan; takes seconds."""


def plan_in(answer: str, facts: Facts) -> Plan:
    """The plan in an answer: names that stand behind an owner are the owner's, whatever separates them."""
    given: dict[str, list[str]] = {owner: [] for owner in facts["owners"]}
    words = {word.casefold(): word for word in (*given, *facts["names"])}
    now = next(iter(given))
    for found in re.findall(rf"\b(?:{'|'.join(map(re.escape, words))})\b", answer.casefold()):
        word = words[found]
        now = word if word in given else now
        given[now] += [] if word in given else [word]
    first, second = given.values()
    return first, second


def verdict(answer: str, facts: Facts, worth: Worth, best: Best) -> str:
    """Say why the plan in an answer is not the best one.

    Args:
        answer: Answer of a method.
        facts: Facts of its task.
        worth: Judges a plan.
        best: Searches for the best one.

    Returns:
        A sentence, or '' for a plan that is as good as the best.
    """
    plan = plan_in(answer, facts)
    value = worth(plan, facts) if len({*plan[0], *plan[1]}) == len(plan[0]) + len(plan[1]) else None
    if value is None:
        return "the plan breaks a rule"
    most = _searched(best, json.dumps(facts))
    return "" if value >= most else f"the plan is worth {value}, the best one {most}"


@lru_cache(maxsize=64)
def _searched(best: Best, facts: str) -> int:
    return best(json.loads(facts))


def best_split(first: Sequence[int], second: Sequence[int]) -> int:
    """Find the highest worth of two disjoint sets together.

    Args:
        first: Worth of each set to the first owner; the bits of its index are its members.
        second: Worth of each set to the second owner.
    """
    return int((_of_subsets(first) + _of_subsets(second)[::-1]).max())


def _of_subsets(worth: Sequence[int]) -> NDArray[np.int64]:
    """The highest worth of any subset of each set."""
    top = np.array(worth)
    for bit in range(len(worth).bit_length() - 1):
        pairs = top.reshape(-1, 2, 1 << bit)
        np.maximum(pairs[:, 0], pairs[:, 1], out=pairs[:, 1])
    return top
