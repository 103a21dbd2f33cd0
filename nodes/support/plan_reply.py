"""What the planner is asked for, and what of its reply is sent back beyond what any plan is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from forethought.models.types import ReplySpec, reply_spec, without
from forethought.nodes.support.effort import all_seen
from forethought.nodes.support.experience import advice_lines
from forethought.nodes.support.intra_reflection import unscored_spec
from forethought.nodes.support.plans import plan_problem
from forethought.nodes.support.prompt_text import trajectory
from forethought.nodes.support.situation import has_signs
from forethought.prompts.planned_calls import with_calls
from forethought.prompts.replies import Plan
from forethought.state.agent import AgentState
from forethought.state.context import Context
from forethought.tools.base import Tool


def plan_fields(state: AgentState, context: Context) -> set[str]:
    """The fields of a Plan that are asked for.

    What is open is what its author's own criticism is held against. An answer is asked for only where no file
    has a sign to check it against.
    """
    if context.effort == "paper":
        asked = {"known", "open", "discard"}
    else:
        asked = {"known", "answer"} if answers_from(state, context) else {"known"}
    if context.wants("plan_intra"):
        asked |= {"known", "open", "defects"}
    if state.get("results"):
        asked |= {"discard"}
    if advice_lines(state):
        asked |= {"advice"}
    return asked | {"subtasks"}


def answers_from(state: AgentState, context: Context) -> Literal["", "all", "earlier"]:
    """What the planner may answer from itself: all that it sees, the earlier answers, or nothing ('').

    On the first plan of a task only, and never where the answer is scored or the person's reply to it
    foreseen. A file that has signs or was not seen whole is left to the writer, who checks the answer against
    it; earlier answers that passed were checked. Of a folder, all files that hold what the task names must
    have been shown.
    """
    is_first = not state.get("plan") and not trajectory(state) and state["progress"]["round"] == 1
    if not is_first or context.effort == "paper" or context.foresees_user or context.wants("answer_intra"):
        return ""
    if not has_signs(state) and (not (state.get("files") or state.get("folders")) or all_seen(state)):
        return "all"
    earlier = state["progress"].get("earlier")
    if state.get("folders"):  # its files may have changed since
        return ""
    return "earlier" if earlier and all(item["status"] == "answered" for item in earlier) else ""


def plan_spec(state: AgentState, context: Context, calls: dict[str, Tool]) -> ReplySpec[Plan]:
    """The spec of a plan. `calls`: the tools whose calls it may carry."""
    asked = plan_fields(state, context)
    spec = reply_spec(Plan) if "defects" in asked else unscored_spec(Plan)
    others = Plan.model_fields.keys() - asked - {"defects"}
    return with_calls(without(spec, *others), calls)


def plan_checker(state: AgentState, context: Context) -> Callable[[Plan], str | None]:
    """What tells why a plan is sent back, or None."""
    old, results = state.get("plan", {}), state.get("results", {})

    def check(reply: Plan) -> str | None:
        return plan_problem(
            reply.subtasks,
            old=old,
            results=results,
            discard=reply.discard,
            may_be_empty=context.effort != "paper" or bool(old.get("subtasks")),
        )

    return check
