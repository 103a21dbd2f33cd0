"""Sums of what re-runs cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from forethought.models.types import Usage, no_usage


def added(*usages: Mapping[str, Any]) -> Usage:
    """The sum of every figure."""
    return _sum((1, usage) for usage in usages)


def between(before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]) -> Usage:
    """What was spent from one state's usage to another's, over all roles."""
    signed = [(-1, usage) for usage in before.values()]
    return _sum([*signed, *((1, usage) for usage in after.values())])


def _sum(usages: Iterable[tuple[int, Mapping[str, Any]]]) -> Usage:
    sums: dict[str, float] = dict(cast(Mapping[str, float], no_usage()))
    for sign, usage in usages:
        for key, value in usage.items():
            sums[key] = sums.get(key, 0) + sign * value
    return cast(Usage, sums)
