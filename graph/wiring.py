"""What every node of every graph is wrapped in: it is told of, and its finished calls are kept."""

from __future__ import annotations

from functools import partial
from typing import Any

from forethought.journal import journalled
from forethought.telemetry import observed
from nodes.siblings import together


def wired(node: Any, services: Any, *, kept: bool = True, side_by_side: bool = False) -> Any:
    """`node` with its services, for `add_node`.

    What it does is told under its name (spans, log lines), and what its calls gave is in its journal unless
    the graph is not `kept`. An error of one that runs `side_by_side` with its like cancels none of them.
    """
    at_work = journalled(node, kept)
    return partial(observed(together(at_work) if side_by_side else at_work), services=services)
