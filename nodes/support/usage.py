"""Summing what several model calls of one node cost."""

from __future__ import annotations

from typing import cast

from forethought.models.allowance import summed
from forethought.models.types import Usage, no_usage


def total(*usages: Usage) -> Usage:
    """The sum of every figure."""
    sums = dict(no_usage())
    for usage in usages:
        for key, value in usage.items():
            sums[key] = summed(key, cast(float, sums.get(key, 0)), cast(float, value))
    return cast(Usage, sums)
