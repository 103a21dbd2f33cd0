"""What the planner is asked for, and what of its reply is sent back beyond what any plan is."""

from __future__ import annotations

from collections.abc import Callable

from forethought.models.types import ReplySpec, reply_spec, without
from forethought.nodes.support.effort import all_seen
from forethought.nodes.support.intra_reflection import unscored_spec
from forethought.nodes.support.plans import plan_problem
from forethought.nodes.support.prompt_text import trajectory
from forethought.nodes.support.sign_verdicts import number, signs_text, unheeded
from forethought.prompts.planned_calls import with_calls
from forethought.prompts.replies import Plan
from forethought.state.agent import AgentState
from forethought.state.context import Context
from forethought.tools.base import Tool


def plan_fields(state: AgentState, context: Context) -> set[str]:
    """The fields of a Plan that are asked for.

    What is known and open is what its author's own criticism is held against; else the signs, where there are
    some, stand for it. An answer is asked for only where no file has a sign to check it against.
    """
    if context.effort == "paper":
        asked = {"known", "open", "discard"}
    else:
        asked = {"signs"} if signs_text(state) else {"known"}
        asked |= {"answer"} if _may_answer(state, context) else set()
    if context.wants("plan_intra"):
        asked |= {"known", "open", "defects"}
    if state.get("results"):
        asked |= {"discard"}
    return asked | {"subtasks"}


def _may_answer(state: AgentState, context: Context) -> bool:
    """Whether the planner may answer itself: on the first plan of a task, unless a file has signs or was not
    seen whole, the answer is scored or the person's reply to it foreseen."""
    is_first = not state.get("plan") and not trajectory(state) and state["progress"]["round"] == 1
    is_plain = all(sign["origin"] == "user" for sign in state.get("look", {}).get("signs", ()))
    is_plain = is_plain and (not state.get("files") or all_seen(state))
    return is_first and is_plain and not context.foresees_user and not context.wants("answer_intra")


def plan_spec(state: AgentState, context: Context, calls: dict[str, Tool]) -> ReplySpec[Plan]:
    """The spec of a plan. `calls`: the tools whose calls it may carry."""
    asked = plan_fields(state, context)
    spec = reply_spec(Plan) if "defects" in asked else unscored_spec(Plan)
    others = Plan.model_fields.keys() - asked - {"defects"}
    return with_calls(without(spec, *others), calls)


def handlers(reply: Plan, state: AgentState) -> set[str]:
    """Ids of the subtasks that may look after a sign: the plan's, and finished ones."""
    return {*(subtask.id for subtask in reply.subtasks), *state.get("results", {})}


def plan_checker(state: AgentState, context: Context) -> Callable[[Plan], str | None]:
    """What tells why a plan is sent back, or None. That a sign is not looked after is said once: then it is
    left to the reflector."""
    old, results = state.get("plan", {}), state.get("results", {})
    said: list[str] = []

    def check(reply: Plan) -> str | None:
        problem = plan_problem(
            reply.subtasks,
            old=old,
            results=results,
            discard=reply.discard,
            may_be_empty=context.effort != "paper" or bool(old.get("subtasks")),
        )
        if problem or said or not reply.subtasks:
            return problem
        said.extend(number(verdict) for verdict in unheeded(reply.signs, state, handlers(reply, state)))
        return (
            f"no subtask looks after {', '.join(said)}, which by your words bears on the task"
            if said
            else None
        )

    return check
