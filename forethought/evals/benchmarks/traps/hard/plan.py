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
"""What a task is made of: plain JSON with the `names` of what is planned and the two `owners`."""
Plan = tuple[Sequence[str], Sequence[str]]
"""What the first and the second owner are given, in order."""
Worth = Callable[[Plan, Facts], int | None]
"""What a plan is worth, more is better; None for a plan that breaks a rule."""
Best = Callable[[Facts], int]
"""The most that any plan is worth; takes seconds."""


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
        answer: What a method answered.
        facts: What its task is made of.
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
    """The most that two disjoint sets are worth together.

    Args:
        first: What each set is worth to the first owner; the bits of its index are its members.
        second: The same for the second owner.
    """
    return int((_of_subsets(first) + _of_subsets(second)[::-1]).max())


def _of_subsets(worth: Sequence[int]) -> NDArray[np.int64]:
    """The most that any subset of each set is worth."""
    top = np.array(worth)
    for bit in range(len(worth).bit_length() - 1):
        pairs = top.reshape(-1, 2, 1 << bit)
        np.maximum(pairs[:, 0], pairs[:, 1], out=pairs[:, 1])
    return top
