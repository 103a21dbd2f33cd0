"""Sums of what re-runs cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from forethought.models.allowance import summed
from forethought.models.types import Usage, no_usage


def added(*usages: Mapping[str, Any]) -> Usage:
    """The sum of every figure; of the budgets that were too short, the longest."""
    sums: dict[str, float] = dict(cast(Mapping[str, float], no_usage()))
    for usage in usages:
        for key, value in usage.items():
            sums[key] = summed(key, sums.get(key, 0), value)
    return cast(Usage, sums)


def between(before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]) -> Usage:
    """What was spent from one state's usage to another's, over all roles."""
    first, last = (cast(Mapping[str, float], added(*usages.values())) for usages in (before, after))
    spent = {key: value - first.get(key, 0) for key, value in last.items() if key != "out_of_time"}
    return cast(Usage, spent)
