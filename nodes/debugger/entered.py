"""Where a critical error entered the run, and so what a re-run begins before (AgentDebug, algorithm 1).

In a run of our own agent two roles plan: the planner its subtasks, the tool agent its next move. Only the
planner's error goes back to before the plan in force; to make the whole plan anew for a thought of the tool
agent's would throw away sound steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from forethought.trajectories.own import SOURCE, planned_by_planner
from forethought.trajectories.quotes import occurs
from forethought.trajectories.types import Module, Trajectory


def entered_by(critical: Mapping[str, Any], trajectory: Trajectory) -> Module:
    """The module whose call a re-run begins with: the one at fault, but `action`, which the tool agent's one
    call brings forth, where the evidence of a planning error is not in the planner's words."""
    module = cast(Module, critical["critical_module"])
    if module != "planning" or trajectory.source != SOURCE:
        return module
    step = trajectory.step(critical["critical_step"])
    evidence = critical.get("evidence") or ""
    if not evidence or occurs(evidence, planned_by_planner(step)):
        return module
    return "action" if occurs(evidence, f"{step.planning}\n{step.action}") else module
