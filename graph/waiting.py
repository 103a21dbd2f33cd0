"""What a client is shown of a thread that waits for a person: its `status` is `interrupted`.

The channel cannot hold it: a node that asks is broken off before it writes, and runs again with the reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.types import StateSnapshot

_WAITS = {"status": "interrupted"}


def shown_snapshot(snapshot: StateSnapshot) -> StateSnapshot:
    """The snapshot as clients read it."""
    waits = snapshot.interrupts and "status" in snapshot.values
    return snapshot._replace(values={**snapshot.values, **_WAITS}) if waits else snapshot


def shown_part(part: Any) -> Any:
    """A part of a run's stream as clients read it, in any form that LangGraph gives it."""
    if isinstance(part, tuple):
        return (*part[:-1], shown_part(part[-1]))
    if not isinstance(part, Mapping):
        return part
    if part.get("type") == "values" and part.get("interrupts") and "status" in part["data"]:
        return {**part, "data": {**part["data"], **_WAITS}}
    return {**part, **_WAITS} if part.get("__interrupt__") and "status" in part else part
