"""What the planner is asked for, and what of its reply is sent back beyond what any plan is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from forethought.models.types import ReplySpec, reply_spec, without
from forethought.nodes.support.effort import all_seen
from forethought.nodes.support.intra_reflection import unscored_spec
from forethought.nodes.support.plans import plan_problem
from forethought.nodes.support.prompt_text import trajectory
from forethought.nodes.support.sign_verdicts import dismissed, number, signs_text, unheeded
from forethought.prompts.planned_calls import with_calls
from forethought.prompts.replies import Plan, SignVerdict
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
        asked |= {"answer"} if answers_from(state, context) else set()
    if context.wants("plan_intra"):
        asked |= {"known", "open", "defects"}
    if state.get("results"):
        asked |= {"discard"}
    return asked | {"subtasks"}


def answers_from(state: AgentState, context: Context) -> Literal["", "all", "earlier"]:
    """What the planner may answer from itself: all that it sees, the earlier answers, or nothing ('').

    On the first plan of a task only, and never where the answer is scored or the person's reply to it
    foreseen. A file that has signs or was not seen whole is left to the writer, who checks the answer against
    it; earlier answers that passed were checked.
    """
    is_first = not state.get("plan") and not trajectory(state) and state["progress"]["round"] == 1
    if not is_first or context.effort == "paper" or context.foresees_user or context.wants("answer_intra"):
        return ""
    if not _signs_of_files(state) and (not state.get("files") or all_seen(state)):
        return "all"
    earlier = state["progress"].get("earlier")
    return "earlier" if earlier and all(item["status"] == "answered" for item in earlier) else ""


def may_stand(verdicts: Iterable[SignVerdict], state: AgentState, context: Context) -> bool:
    """Whether an answer in place of a plan is the task's: from earlier answers, only where its author says of
    each sign of a file that it does not bear on this task."""
    left = answers_from(state, context)
    return left == "all" or (left == "earlier" and {*dismissed(verdicts)} >= _signs_of_files(state))


def _signs_of_files(state: AgentState) -> set[str]:
    """The numbers of the signs that are not conditions of the task."""
    signs = state.get("look", {}).get("signs", ())
    return {f"S{number}" for number, sign in enumerate(signs, 1) if sign["origin"] != "user"}


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
