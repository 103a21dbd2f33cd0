"""The conditions on the edges of the distiller's graph: pure functions of state."""

from __future__ import annotations

from langgraph.graph import END
from langgraph.types import Send

from forethought.nodes.distiller.aggregate import open_entries
from forethought.state.distiller_state import DistillerState


def after_take(state: DistillerState) -> str:
    """Nothing to compare: the end."""
    return "diagnose_wave" if state["status"] == "running" else END


def after_diagnose_wave(state: DistillerState) -> list[Send] | str:
    """The wave's tasks side by side; with none left, on to the aggregation. A Send carries a key only."""
    if state["status"] != "running":
        return END
    return [Send("diagnose_task", {"task": key}) for key in state["wave"]] or "aggregate"


def after_aggregate(state: DistillerState) -> str:
    """The next entry; with none left, the patterns."""
    if state["status"] != "running":
        return END
    return "aggregate" if open_entries(state) else "pattern_wave"


def after_pattern_wave(state: DistillerState) -> list[Send] | str:
    """The wave's errors side by side; with none left, a person's refinement."""
    if state["status"] != "running":
        return END
    return [Send("write_patterns", {"error": name}) for name in state["wave"]] or "review"


def after_review(state: DistillerState) -> str:
    """The next error, until all are reviewed."""
    return "review" if state["status"] == "running" else END
