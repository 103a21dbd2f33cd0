"""approve_plan: an interrupt that shows the plan to a person, who approves, edits or rejects it with a
reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime
from pydantic import ValidationError

from forethought.models.schema import drop_nulls, json_schema
from forethought.nodes.support.origins import joined as joined_origins
from forethought.nodes.support.plans import dropped_ids, join_plan, plan_problem, plan_update, same_words
from forethought.nodes.support.questions import ask_decision
from forethought.nodes.support.services import Services
from forethought.prompts.replies import PlannedSubtask
from forethought.state.agent import AgentState, Plan
from forethought.state.context import Context
from forethought.state.reducers import with_statuses
from forethought.tools.base import Tool
from forethought.tools.call import check_arguments


async def approve_plan(state: AgentState, runtime: Runtime[Context], *, services: Services) -> dict[str, Any]:
    """Ask until the reply is usable. An edited plan is validated here and diagnosed next; a rejected one is
    planned anew."""
    await services.turn(runtime)
    state = with_statuses(state)
    plan, progress = state["plan"], state["progress"]
    payload = {
        "kind": "plan",
        "id": f"plan-{plan['version']}",
        "n": progress["n"],
        "plan": plan,
        "choices": ["approve", "edit", "reject"],
    }

    word, edited, reason = ask_decision(payload, lambda value: _edited(value, state, services.offered(state)))
    if word == "approve":
        return plan_update({**plan, "approval": "approved"})
    rejected = {
        **plan_update({**plan, "approval": "rejected"}),
        "progress": {**progress, "rejection": reason},
    }
    return edited or rejected


def _edited(value: Any, state: AgentState, tools: Mapping[str, Tool]) -> dict[str, Any] | str:
    """The update for edited subtasks (a list, or {"subtasks": list}), or what is wrong with them.

    A finished one in other words is work of its own.
    """
    items = value.get("subtasks") if isinstance(value, dict) else value
    if not isinstance(items, list):
        return "value must be a list of subtasks, each {id, description, depends_on, call, expected}"
    plan, progress, results = state["plan"], state["progress"], state.get("results", {})
    try:
        subtasks = [PlannedSubtask.model_validate(item) for item in items]
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return ": ".join(["a subtask is not valid", *map(str, first["loc"]), first["msg"]])
    done = {s["id"]: s["description"] for s in plan["subtasks"] if s["id"] in results}
    new = [
        (item, s)
        for item, s in zip(items, subtasks, strict=True)
        if s.id not in done or not same_words(done[s.id], s.description)
    ]
    subtasks = [s for _, s in new]
    problems = (_call_problem(item, s, tools) for item, s in new)
    problem = plan_problem(subtasks, old=plan, results=results) or next(filter(None, problems), None)
    if problem:
        return problem
    version = progress["version"] + 1
    edited: Plan = {
        **plan,
        "version": version,
        "subtasks": join_plan(subtasks, old=plan, results=results, used_ids=dropped_ids(state, plan)),
        "signs": [],
        "approval": "edited",
        "reviewed": False,
        "origin": joined_origins(["user", plan.get("origin", "")]),
    }
    return {**plan_update(edited), "progress": {**progress, "version": version}}


def _call_problem(item: Mapping[str, Any], subtask: PlannedSubtask, tools: Mapping[str, Tool]) -> str | None:
    """What is wrong with the calls of a subtask that a person wrote as `item`: those that could not be made
    would be left out, or left to the worker."""
    written = item.get("calls") or item.get("call")
    if written and len(subtask.calls) != (len(written) if isinstance(written, list) else 1):
        return f"a call of subtask {subtask.id!r} must be {{tool, arguments}}"
    for call in subtask.calls:
        tool = tools.get(call.tool)
        if tool is None:
            return f"subtask {subtask.id!r}: there is no tool {call.tool!r}; use one of: {', '.join(tools)}"
        if wrong := check_arguments(tool, drop_nulls(call.arguments, json_schema(tool.arguments))):
            return f"subtask {subtask.id!r}: {wrong}"
    return None
