"""One decision of the agent made again: the plan, the move or the answer at a checkpoint.

The agent runs from a copy of the checkpoint in memory and stops before anything is carried out. So no effect
is repeated, and the thread keeps its head, whenever this process ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_type_hints
from uuid import uuid4

from forethought.models.types import Usage
from forethought.nodes.support.plan_text import plan_text
from forethought.nodes.support.prompt_text import call_text
from forethought.rollouts.thread import usage_between
from forethought.rollouts.types import RolloutError
from forethought.state.agent import AgentInput, AgentState
from forethought.state.context import Context
from forethought.state.history import (
    Checkpoints,
    ForkError,
    ForkPoint,
    before_answer,
    before_plan,
    before_step,
    before_task,
)

Json = dict[str, Any]
Kind = Literal["plan", "move", "answer"]
_DECIDE = ["planner", "tool_agent", "answer_agent"]
_PER_RUN = {"experience", "lessons"}
"""Channels of advice that the run was shown: a copy begins without it."""


@dataclass(frozen=True)
class Decision:
    """What the agent decided."""

    text: str
    usage: Usage


@dataclass(frozen=True)
class Place:
    """A checkpoint before a decision, with its values."""

    fork: ForkPoint
    values: Mapping[str, Any]


async def find_place(checkpoints: Checkpoints, kind: Kind, number: int | None, leaf: Any) -> Place:
    """Find the checkpoint before a decision of the task that ends in `leaf`.

    Args:
        checkpoints: The thread.
        kind: The decision. A plan is the one in force at the step.
        number: Number of the step; None for the answer.
        leaf: The last checkpoint of the task.

    Returns:
        The place; the beginning of the task if that decision was never made by itself.

    Raises:
        RolloutError: The checkpoint is gone.
    """
    try:
        try:
            if kind == "plan":
                fork = await before_plan(checkpoints, number, leaf)
            elif kind == "answer" or number is None:
                fork = await before_answer(checkpoints, leaf)
            else:
                fork = await before_step(checkpoints, number, leaf)
        except ForkError:
            fork = await before_task(checkpoints, leaf)
    except ForkError as error:
        raise RolloutError(str(error)) from error
    point = await checkpoints.read(fork.at)
    assert point is not None
    return Place(fork, point.values)


async def decide(graph: Any, context: Context, place: Place, guidance: Sequence[str]) -> Decision:
    """Have the agent decide at `place` with `guidance` besides the task's own. Raises what the run raises.

    `graph` is the agent with its checkpoints in memory and without a Store.
    """
    config = {"configurable": {"thread_id": uuid4().hex}}
    fork = place.fork
    values = {
        key: value
        for key, value in place.values.items()
        if value and key in get_type_hints(AgentState) and key not in _PER_RUN
    }
    update = {**fork.update, "guidance": [*fork.guidance, *guidance]}
    given: Json | None = None
    if fork.as_node != "__start__":
        await graph.aupdate_state(config, {**values, **update}, as_node=fork.as_node)
    elif values.get("progress"):
        given = {"task": values["task"], **update}
        await graph.aupdate_state(config, {**values, "status": "answered"}, as_node="answer_agent")
    else:
        given = {**{key: values[key] for key in get_type_hints(AgentInput) if key in values}, **update}
    await graph.ainvoke(given, config, context=context, interrupt_after=_DECIDE)
    snapshot = await graph.aget_state(config)
    spent = usage_between(fork.spent, snapshot.values.get("usage") or {})
    return Decision(decision_text(snapshot.values, snapshot.next), spent)


def decision_text(values: Mapping[str, Any], following: Sequence[str]) -> str:
    """The decision that stands in these values, before the nodes `following`: moves, an answer or a plan."""
    if "tool_executor" in following:
        return "\n".join(map(_move, (values.get("proposals") or {}).values()))
    draft = "" if "prospective_reflector" in following else (values.get("draft") or {}).get("answer")
    if answer := values.get("answer") or draft:
        return f"Answer: {answer}"
    return plan_as_made(values) or "No decision was made."


def plan_as_made(values: Mapping[str, Any]) -> str:
    """The plan in these values as it was before any of it was carried out."""
    plan: Any = dict(values.get("plan") or {})
    plan["subtasks"] = [{**item, "status": "pending"} for item in plan.get("subtasks", [])]
    return plan_text(plan)


def _move(proposal: Json) -> str:
    return f"{proposal['subtask']}: {call_text(proposal)} {proposal['result'] or proposal['reason']}".strip()
