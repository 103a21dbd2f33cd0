"""planner: a dependency graph of subtasks, scored by its own author (MIRROR 3.3, 3.4; PreFlect 3.3 when it
plans again).

Departures from MIRROR: dependencies are explicit and checked; the best-scored attempt goes on when the
revisions are used up, where the paper revises without end; a plan is also made during a round, since PreFlect
re-plans.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime

from forethought.models.types import Listener, Message, Usage
from forethought.nodes.support.answer_stream import AnswerStream
from forethought.nodes.support.budget import allowance, exhausted, left_text
from forethought.nodes.support.effort import Moment, open_subtasks, settle
from forethought.nodes.support.experience import advice_ids, advice_lines, recall
from forethought.nodes.support.final import final_update
from forethought.nodes.support.first_look import look_at
from forethought.nodes.support.folder_look import look_at_folders
from forethought.nodes.support.foresight import ForesightModel
from forethought.nodes.support.inert import without_effect
from forethought.nodes.support.intra_reflection import (
    Revised,
    evaluation_of,
    revise_until,
    score_of,
)
from forethought.nodes.support.origins import thread_origin
from forethought.nodes.support.person_view import for_person, person_view
from forethought.nodes.support.plan_reply import (
    answers_from,
    plan_checker,
    plan_fields,
    plan_spec,
)
from forethought.nodes.support.plan_text import plan_text
from forethought.nodes.support.plans import callable_tools, dropped_ids, join_plan, plan_update
from forethought.nodes.support.prompt_text import Reader, result_items, steps_text, trajectory
from forethought.nodes.support.services import Services, Turn, user_of
from forethought.nodes.support.situation import memory, situation
from forethought.nodes.support.task import (
    TaskError,
    after_begin,
    begin_task,
    fail,
    is_new_task,
    refuse,
    take_in_files,
)
from forethought.prompts.render import prompt_messages
from forethought.prompts.replies import Plan as PlanReply
from forethought.state.agent import AgentState, Plan, Progress
from forethought.state.context import Context, UnknownSetting
from forethought.state.draft import Draft
from forethought.state.look import Look
from forethought.state.reducers import with_statuses
from forethought.tools.folders.given import Folders

_log = logging.getLogger(__name__)


async def planner(state: AgentState, runtime: Runtime[Context], *, services: Services) -> dict[str, Any]:
    """Write the plan of what remains, or the answer where nothing is to be done. On a new task, first reset
    what is per task.

    A first plan that stays invalid ends the task as failed; a re-plan that does keeps the old plan.
    """
    state, new_task = with_statuses(state), is_new_task(state)
    update: dict[str, Any] = {}
    try:
        turn = await services.turn(runtime)
        if new_task:
            update, state = await _begin(state, turn)
        else:
            update, state = await take_in_files(state, turn.services)
    except (TaskError, UnknownSetting) as error:
        if not new_task:
            raise
        return await refuse(state, str(error), services.for_user(user_of(runtime)))
    update["progress"] = {**_count_planning(state), "rejection": ""}
    if exhausted(state, turn.context, steps=False):
        return update
    turn, skipped = settle("plan_intra", turn, Moment(state, turn.context))
    update |= skipped
    view = person_view(state, turn.services.tools)
    stream = AnswerStream(turn, lambda reply: _may_stand(reply, state, turn.context), view)
    revised = await scored_plan(state, turn, stream.listener)
    return await stream.finish(_update_from_reply(revised, state, update, turn))


def _update_from_reply(
    revised: Revised[PlanReply], state: AgentState, update: dict[str, Any], turn: Turn
) -> dict[str, Any]:
    """The update with what the planner wrote: a plan, an answer, or nothing that can be used."""
    progress = _count_planning(state)
    again = bool(progress["version"])
    booked = revised.booked("replanning" if again else "planner", "plan_intra")
    update["usage"] = {**update.get("usage", {}), **booked}
    if revised.best is None:
        return {**update, **_without_plan(state, update, revised, turn.context)}
    best = revised.best
    if best.answer and not best.subtasks and answers_from(state, turn.context):
        return {**update, **_answered(best, state, update, turn)}
    if fits := advice_ids(best.advice, state):
        experience = state.get("experience", {})
        named = dict.fromkeys([*experience.get("fits", []), *fits])
        update["experience"] = {**experience, "fits": list(named)}
    plan = new_plan(revised.best, state, progress, revised.revisions, turn.context)
    update |= plan_update(plan)
    if again and open_subtasks(plan) != open_subtasks(state.get("plan", {})):
        update["usage"]["replanning"]["changed"] = 1
    update["progress"] |= {"version": plan["version"], "discarded": revised.best.discard}
    for channel in ("results", "short_term") if revised.best.discard else ():
        update[channel] = {**update.get(channel, {}), **dict.fromkeys(revised.best.discard)}
    return update


async def _begin(state: AgentState, turn: Turn) -> tuple[dict[str, Any], AgentState]:
    """The update that begins a task, and the state as it stands then. Raises TaskError.

    It brings advice from earlier tasks, and a reflection on the person's words (SAMULE 3.2.3).
    """
    context = turn.context
    for line in without_effect(context):
        _log.warning(line)
    update = await begin_task(state, turn.services, context)
    begun = after_begin(state, update)
    if context.effort != "paper":
        update["look"] = await _look(begun, turn)
        begun = {**begun, "look": update["look"]}
    if (experience := await recall(begun, turn.runtime, context)) or state.get("experience"):
        update["experience"] = experience
    foreseen = state.get("draft", {}).get("expected_reply", "")
    if foreseen and context.foresees_user:
        model = ForesightModel(turn, allowance(begun, context))
        finding = await model.next_message(foreseen, state.get("answer", ""), begun)
        update["usage"] = {**update["usage"], "foresight_user": finding.usage}
        if finding.reflection:
            memory = f"Expected: {foreseen}\n{finding.note}\n{finding.reflection}"
            update["progress"] = {**update["progress"], "reflection": memory}
        begun = {**begun, "progress": update["progress"]}
    return update, {**begun, "experience": experience}


async def _look(state: AgentState, turn: Turn) -> Look:
    """The first look at the thread's files."""
    services, sizes = turn.services, turn.context.sizes
    looked_at = state["files"] if turn.context.first_look else []
    files = [item for item in looked_at if not isinstance(item, str)]
    refs = state.get("folders", []) if turn.context.first_look else []
    room = sizes.looked // 2 if refs and files else sizes.looked
    look = await look_at(
        files,
        state["task"],
        services.store,
        services.settings,
        room,
        sizes.part,
        signs=turn.context.signs,
    )
    if refs:
        folders = Folders(refs, services.settings)
        folder, unseen = await asyncio.to_thread(look_at_folders, folders, state["task"], room)
        look = {**look, "folder": folder, "unseen": look["unseen"] + unseen}
    return look


def _count_planning(state: AgentState) -> Progress:
    """The counters with this planning entered: at which step of the task, and under which guidance."""
    progress = state["progress"]
    at = progress["n"] - progress["base_n"]
    return {
        **progress,
        "planned_at": [*progress["planned_at"], at],
        "guidance": state.get("guidance", []),
    }


def _may_stand(reply: Mapping[str, Any], state: AgentState, context: Context) -> bool:
    """Whether the answer in a planner's reply, so far as it has come, will be the task's."""
    if reply.get("subtasks") != [] or "defects" in plan_fields(state, context):
        return False
    return bool(answers_from(state, context))


async def scored_plan(state: AgentState, turn: Turn, listener: Listener | None = None) -> Revised[PlanReply]:
    """The best-scored plan of at most 1 + max_revisions. `listener` hears the replies."""
    context = turn.context

    def may_revise(used: Usage) -> bool:
        return not exhausted(state, context, used, steps=False)

    return await revise_until(
        turn,
        "planner",
        planner_messages(state, turn.services, context),
        plan_spec(state, context, callable_tools(state, turn.services, context)),
        allowance(state, context),
        check=plan_checker(state, context),
        threshold=context.plan_threshold if context.wants("plan_intra") else None,
        may_revise=may_revise,
        listener=listener,
    )


def _answered(reply: PlanReply, state: AgentState, update: dict[str, Any], turn: Turn) -> dict[str, Any]:
    """What ends the task where the planner could answer at once."""
    draft: Draft = {
        "answer": for_person(reply.answer, state, turn.services.tools),
        "used_steps": [],
        "evaluation": evaluation_of(reply),
        "score": 0,
        "round": 1,
    }
    if applied := advice_ids(reply.advice, state):
        draft["advice"] = applied
    final = final_update(state, draft, "answered")
    return {**final, "messages": [*update.get("messages", []), *final["messages"]]}


def _without_plan(
    state: AgentState, update: dict[str, Any], revised: Revised[PlanReply], context: Context
) -> dict[str, Any]:
    """What changes where no valid plan came: nothing if the budget is spent, or an old plan or answer
    can stand."""
    old = state.get("plan", {})
    if exhausted(state, context, revised.usage, steps=False):
        return {}
    if not old.get("subtasks") and not state.get("draft"):
        failed = fail(f"no valid plan ({revised.problem})")
        return {**failed, "messages": [*update.get("messages", []), *failed["messages"]]}
    if old.get("approval") == "rejected":  # what a person refused is shown again, never carried out
        return plan_update({**old, "approval": "wanted"})
    return {}


def new_plan(
    reply: PlanReply, state: AgentState, progress: Progress, revisions: int, context: Context
) -> Plan:
    old, results, why = state.get("plan"), state.get("results", {}), _why(state)
    used_ids = dropped_ids(state, old)
    return {
        "version": progress["version"] + 1,
        "subtasks": join_plan(
            reply.subtasks, old=old, results=results, discard=reply.discard, used_ids=used_ids
        ),
        "known": reply.known,
        "open": reply.open,
        "evaluation": evaluation_of(reply),
        "score": score_of(reply) if context.wants("plan_intra") else 0,
        "revisions": revisions,
        "why": why,
        "guidance": state.get("guidance", []),
        "n": progress["n"],
        "unresolved": False,
        "reviewed": False,
        "approval": "",
        "origin": thread_origin(state),
    }


def _why(state: AgentState) -> str:
    """Why a new plan is due: a rejection, a re-plan of this round, a new round, or a broken-off task that was
    sent again; '' for the first plan."""
    progress = state["progress"]
    if progress.get("rejection"):
        return f"The person rejected the last plan: {progress['rejection']}"
    if not state.get("plan"):
        return ""
    in_round = progress["n"] > progress["round_n"]
    last = state["replans"][-1] if state.get("replans") else None
    if last and in_round and (last["task"], last["n"]) == (progress["task"], progress["n"]):
        return last["reason"]
    if progress["round"] == 1 or in_round:
        return "The work was broken off and begins again: plan what remains."
    return f"Round {progress['round']} begins: the last round's answer was not good enough."


def planner_messages(state: AgentState, services: Services, context: Context) -> list[Message]:
    """The planner's prompt: fixed part, situation, memory, what has happened, what is left."""
    results, reader = state.get("results", {}), Reader(context.sizes, state["task"])
    return prompt_messages(
        "planner",
        asked=plan_fields(state, context),
        answers_from=answers_from(state, context),
        threshold=context.plan_threshold,
        paper=context.effort == "paper",
        calls=bool(callable_tools(state, services, context)),
        foresight=context.foresees_tools,
        acts=any(not tool.only_fetches for tool in services.offered(state).values()),
        **situation(state, services, context, plans=True),
        **memory(state, context),
        advice=advice_lines(state),
        steps=steps_text(trajectory(state), results, reader),
        results=result_items(results, reader),
        current=plan_text(state.get("plan", {})),
        why=_why(state),
        left="" if services.one_worker else left_text(state, context),
    )
