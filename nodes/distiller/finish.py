"""finish: the errors with their patterns (PreFlect 3.2.1). A person refines them as advice."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from forethought.nodes.distiller.errors import entries_of
from forethought.nodes.distiller.take import DistillServices
from forethought.state.distiller import DistillerContext, DistillerState

Json = dict[str, Any]


async def finish(
    state: DistillerState, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """End with the errors that have patterns, or say why there are none."""
    if final := generated(state):
        return {"final": final, "status": "distilled", "problem": ""}
    entries, tasks = len(entries_of(state)), len(state["tasks"])
    problem = (
        f"none of the {entries} errors diagnosed in {tasks} tasks of mixed outcome is left: each was "
        "discarded, too narrow, or without usable patterns; collect more runs"
    )
    return {"final": {}, "status": "no_errors", "problem": problem}


def generated(state: DistillerState) -> dict[str, Json]:
    """The errors with their patterns, as the model wrote them; those without patterns are not among them."""
    patterns = state.get("patterns", {})
    return {
        name: {
            "name": name,
            "description": error["description"],
            "failures": [dict(item) for item in patterns[name]["failures"]],
            "successes": [dict(item) for item in patterns[name]["successes"]],
            "entries": list(error["entries"]),
        }
        for name, error in state.get("errors", {}).items()
        if name in patterns
    }
