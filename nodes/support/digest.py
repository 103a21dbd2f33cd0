"""Which steps somebody has digested: what they showed went into a result that the answer can rest on.

A long run's answer need not read everything again: beyond a small share of the window such steps are cut to
what bears on the task (`prompt_text.step_items`), and what nobody has digested keeps its room.
"""

from __future__ import annotations

from forethought.nodes.support.prompt_text import trajectory
from forethought.state.agent import AgentState


def digested_steps(state: AgentState) -> frozenset[int]:
    """Numbers of the steps of a subtask whose result its worker wrote, and of the calls whose results a
    finished subtask depended on; what a worker wrote is never among them."""
    subtasks, results = state.get("plan", {}).get("subtasks", []), state.get("results", {})
    steps = trajectory(state)
    by_number = {step["n"]: step for step in steps}
    makers = {key: by_number[result["n"]] for key, result in results.items() if result["n"] in by_number}
    written = {key for key, step in makers.items() if step["action"] == "finish"}
    needed = {key for item in subtasks if item["id"] in results for key in item["depends_on"]}
    needed_steps = {makers[key]["n"] for key in needed & makers.keys()}
    return frozenset(
        step["n"]
        for step in steps
        if step["action"] != "finish" and (step["subtask"] in written or step["n"] in needed_steps)
    )
