"""triage: which steps of a run are worth a close look, from one reading of it.

The paper labels every step (3.2, stage 1), and each label's prompt holds the whole run, so that the cost
grows with the square of its length. Triage reads the run once and has at most `MOST_SUSPECTS` steps labelled.
The others count as not examined, and stage 2 is told so; errors of theirs that a rule finds are kept.
"""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from forethought.models.types import ReplyError
from forethought.nodes.debugger.label import system_label
from forethought.nodes.debugger.messages import triage_messages
from forethought.nodes.debugger.services import DebugServices
from forethought.prompts.debug_replies import MOST_SUSPECTS, Triage
from forethought.state.debugger import DebuggerContext, DebuggerState
from forethought.text import number_ranges
from forethought.trajectories.types import Trajectory


async def triage(
    state: DebuggerState, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """The steps in question, which are labelled next; of a short run all. Without a usable reply none is
    labelled. Raises ModelErrors other than ReplyError."""
    trajectory = Trajectory.model_validate(state["subject"])
    if len(trajectory.steps) <= MOST_SUSPECTS:
        return {}
    messages = triage_messages(trajectory, services.context(runtime), bool(state["verdict"]["by"]))
    try:
        result = await services.request(
            runtime, "triage", messages, Triage, lambda reply: _problem(reply, trajectory)
        )
    except ReplyError as error:
        why = f"no valid reply to the triage: {error.problem or error}"
        return {**_without_labels(trajectory, [], why), "notes": [why], "usage": {"triage": error.usage}}
    suspects = sorted(result.reply.suspects, key=lambda suspect: suspect.step)
    return {
        **_without_labels(trajectory, [suspect.step for suspect in suspects], "the triage did not select it"),
        "suspects": [suspect.model_dump() for suspect in suspects],
        "usage": {"triage": result.usage},
    }


def _without_labels(trajectory: Trajectory, suspects: list[int], why: str) -> dict[str, Any]:
    """The steps that are not labelled, and what a rule knows of them."""
    steps = [step for step in trajectory.steps if step.number not in suspects]
    by_rule = {str(step.number): system_label(trajectory, step) for step in steps}
    return {
        "label_problems": {str(step.number): why for step in steps},
        "labels": {key: {"system": label} for key, label in by_rule.items() if label},
    }


def _problem(reply: Triage, trajectory: Trajectory) -> str | None:
    numbers, known = [suspect.step for suspect in reply.suspects], [step.number for step in trajectory.steps]
    if wrong := number_ranges(set(numbers) - set(known)):
        return f"there is no step {wrong}: the steps are numbered {known[0]} to {known[-1]}"
    if not 0 < len(numbers) <= MOST_SUSPECTS or len(numbers) > len(set(numbers)):
        return f"suspects must name 1 to {MOST_SUSPECTS} steps, each once"
    return None
