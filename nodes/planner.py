"""planner: a dependency graph of subtasks, scored by its own author (MIRROR 3.3, 3.4; PreFlect 3.3 when it
plans again).

Departures from MIRROR: dependencies are explicit and checked; the best-scored attempt goes on when the
revisions are used up, where the paper revises without end; a plan is also made during a round, since PreFlect
re-plans.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.runtime import Runtime

from forethought.models.allowance import total
from forethought.models.types import Message, ReplyError, ReplySpec, Usage, no_usage, reply_spec
from forethought.nodes.support.budget import allowance, exhausted_calls, left_text
from forethought.nodes.support.events import thinking
from forethought.nodes.support.judgement import Judge
from forethought.nodes.support.lessons import lesson_items, open_book, recall, user_of
from forethought.nodes.support.plans import dropped_ids, join_plan, plan_problem
from forethought.nodes.support.prompt_text import (
    earlier_items,
    files_text,
    plan_text,
    result_items,
    rounds_texts,
    steps_text,
    trajectory,
)
from forethought.nodes.support.provenance import thread_origin
from forethought.nodes.support.refused import refuse
from forethought.nodes.support.services import Services
from forethought.nodes.support.task import TaskError, after_begin, begin_task, fail, is_new_task
from forethought.prompts.render import render
from forethought.prompts.replies import Plan as PlanReply
from forethought.prompts.replies import PlanUnscored
from forethought.state.agent import AgentState, Plan, Progress
from forethought.state.context import Context
from forethought.state.plan_patches import plan_update
from forethought.tools.registry import describe


async def planner(state: AgentState, runtime: Runtime[Context], *, services: Services) -> dict[str, Any]:
    """Write the plan of what remains. On a new task, first reset what is per task.

    A first plan that stays invalid ends the task as failed; a re-plan that does keeps the old plan.
    """
    context = services.context(runtime)
    await services.ready()
    update: dict[str, Any] = {}
    if is_new_task(state):
        try:
            update = await _begin(state, runtime, services, context)
        except TaskError as error:
            return await refuse(state, str(error), services, user_of(runtime))
        state = after_begin(state, update)
    progress = _planned(state)
    if exhausted_calls(state, context):
        return {**update, "progress": {**progress, "rejection": ""}}
    problem, usage = "", no_usage()
    best: PlanReply | None = None
    try:
        best, usage, revisions = await _scored_plan(state, runtime, services, context)
    except ReplyError as error:
        problem, usage = error.problem or str(error), error.usage
    before = update.get("usage", {})
    update["usage"] = {**before, "planner": total(usage, before.get("planner", no_usage()))}
    update["progress"] = {**progress, "rejection": ""}
    if best is None:
        old = state.get("plan", {})
        if exhausted_calls(_with(state, usage), context):
            return update
        if not old.get("subtasks"):
            failed = fail(f"no valid plan ({problem})")
            return {**update, **failed, "messages": [*update.get("messages", []), *failed["messages"]]}
        if old.get("approval") == "rejected":  # what a person refused is shown again, never carried out
            update |= plan_update(old, {**old, "approval": "wanted"})
        return update
    plan = _joined(best, state, progress, revisions, scored=context.plan_intra)
    update["plan"] = plan
    update["progress"]["version"] = plan["version"]
    dropped = dict.fromkeys(best.discard)
    if dropped:
        update["results"] = {**update.get("results", {}), **dropped}
        update["short_term"] = {**update.get("short_term", {}), **dropped}
    return update


async def _begin(
    state: AgentState, runtime: Runtime[Context], services: Services, context: Context
) -> dict[str, Any]:
    """The update that begins a task, with the lessons of earlier ones, and what it tells that the person asks
    this now (SAMULE 3.2.3). Raises TaskError."""
    if context.lessons:
        open_book(runtime, context)  # refused before anything is done
    update = await begin_task(state, services, context, user_of(runtime))
    begun = after_begin(state, update)
    if context.lessons or "lessons" in state:
        update["lessons"] = await recall(begun, runtime, context)
    foreseen = state.get("draft", {}).get("expected_reply", "")
    if context.foresees_user and foreseen:
        judge = Judge(runtime, services, context, allowance(begun, context))
        found = await judge.next_message(foreseen, state.get("answer", ""), begun)
        update["usage"] = {**update["usage"], "planner": found.usage}
        if found.reflection:
            said = f"Expected: {foreseen}\n{found.note}\n{found.reflection}"
            update["progress"] = {**update["progress"], "reflection": said}
    return update


def _planned(state: AgentState) -> Progress:
    """The counters with this planning entered: at which step of the task, and under which guidance."""
    progress = state["progress"]
    at = progress["n"] - progress["base_n"]
    return {
        **progress,
        "planned_at": [*progress["planned_at"], at],
        "guidance": state.get("guidance", []),
    }


async def _scored_plan(
    state: AgentState, runtime: Runtime[Context], services: Services, context: Context
) -> tuple[PlanReply, Usage, int]:
    """The best-scored plan of at most 1 + max_revisions, what it cost, and how many revisions there were.

    Raises ReplyError when there is none at all.
    """
    messages = planner_messages(state, services, context)
    spec = _spec(context)
    best: PlanReply | None = None
    usage, revisions = no_usage(), 0
    check, allowed = _checker(state, services), allowance(state, context)
    while True:
        thinking(runtime, "planner", revision=revisions)
        try:
            asked = await services.models.ask(
                role="planner",
                model=context.model_for("planner"),
                fallback=context.fallback_model,
                messages=messages,
                reply=spec,
                check=check,
                allowance=allowed,
            )
        except ReplyError as error:
            if best is None:
                raise
            return best, total(usage, error.usage), revisions
        usage = total(usage, asked.usage)
        if best is None or asked.reply.score >= best.score:
            best = asked.reply
        if asked.reply.score >= context.plan_threshold or not context.plan_intra:
            return best, usage, revisions
        if revisions >= context.max_revisions or exhausted_calls(_with(state, usage), context):
            return best, usage, revisions
        revisions += 1
        _, text = render(
            "planner_revise",
            score=asked.reply.score,
            threshold=context.plan_threshold,
            evaluation=asked.reply.evaluation,
        )
        messages = [*messages, Message("assistant", asked.text), Message("user", text)]


def _with(state: AgentState, usage: Usage) -> AgentState:
    return {**state, "usage": {**state.get("usage", {}), "this turn": usage}}


def _spec(context: Context) -> ReplySpec[PlanReply]:
    if context.plan_intra:
        return reply_spec(PlanReply)
    unscored = reply_spec(PlanUnscored, "Plan")

    def parse(value: Any) -> PlanReply:
        return PlanReply(**unscored.parse(value).model_dump(), score=10)

    return ReplySpec("Plan", unscored.schema, parse, strict=unscored.strict)


def _checker(state: AgentState, services: Services) -> Callable[[PlanReply], str | None]:
    def check(reply: PlanReply) -> str | None:
        return plan_problem(
            reply.subtasks,
            tools=services.tools,
            old=state.get("plan"),
            results=state.get("results", {}),
            discard=reply.discard,
            may_be_empty=bool(state.get("plan", {}).get("subtasks")),
        )

    return check


def _joined(reply: PlanReply, state: AgentState, progress: Progress, revisions: int, *, scored: bool) -> Plan:
    old, results = state.get("plan"), state.get("results", {})
    taken = dropped_ids(trajectory(state), old)
    return {
        "version": progress["version"] + 1,
        "subtasks": join_plan(reply.subtasks, old=old, results=results, discard=reply.discard, taken=taken),
        "evaluation": reply.evaluation,
        "score": reply.score if scored else 0,
        "revisions": revisions,
        "why": _why(state),
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
    last = state["replans"][-1] if state.get("replans") else None
    if (
        last
        and last["task"] == progress["task"]
        and last["n"] == progress["n"]
        and progress["n"] > progress["round_n"]
    ):
        return last["reason"]
    if progress["round"] == 1 or progress["n"] > progress["round_n"]:
        return "The work was broken off and begins again: plan what remains."
    return f"Round {progress['round']} begins: the last round's answer was not good enough."


def planner_messages(state: AgentState, services: Services, context: Context) -> list[Message]:
    """The planner's prompt: fixed part, then the task, then what has happened, then what is left."""
    steps = trajectory(state)
    system, user = render(
        "planner",
        tools=describe(services.tools),
        intra=context.plan_intra,
        replanning=context.replanning,
        again=context.replanning or context.max_rounds > 1,
        task=state["task"],
        answer_format=context.answer_format,
        files=files_text(state.get("files", [])),
        guidance=state.get("guidance", []),
        earlier=earlier_items(state["progress"]),
        reflection=state["progress"].get("reflection", ""),
        lessons=lesson_items(state),
        rounds=rounds_texts(state.get("long_term", {})) if context.long_term_memory else [],
        steps=steps_text(steps, state.get("results", {})),
        results=result_items(state.get("results", {})),
        current=plan_text(state.get("plan", {})),
        why=_why(state),
        left=left_text(state, context),
    )
    return [Message("system", system), Message("user", user)]
