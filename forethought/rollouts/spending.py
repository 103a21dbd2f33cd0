"""Sums of what re-runs cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from forethought.models.allowance import total
from forethought.models.types import Usage


def between(before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]) -> Usage:
    """What was spent from one state's usage to another's, over all roles."""
    first, last = (cast(Mapping[str, float], total(*usages.values())) for usages in (before, after))
    spent = {key: value - first.get(key, 0) for key, value in last.items() if key != "out_of_time"}
    return cast(Usage, spent)
