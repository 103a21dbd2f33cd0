"""answer_agent: the answer from the whole trajectory, criticised by its own author (MIRROR 3.3 to 3.5).

Below the threshold it is mended in place if the steps hold what that takes. If it takes facts that nobody has
looked for, the round goes to long-term memory and the next one begins. In the end the best draft is returned.
Departures from MIRROR: an answer is mended in place, and a new round begins only for facts, and only if
something can still be done in it; the steps that the answer rests on are named and checked; failed and
blocked subtasks are shown to it and kept in the status.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from forethought.models.allowance import Allowance
from forethought.models.types import Message, OutOfTime, ReplySpec, Usage, reply_spec
from forethought.nodes.support.budget import allowance, answer_allowance, exhausted
from forethought.nodes.support.effort import Moment, settle
from forethought.nodes.support.intra_reflection import (
    Revised,
    evaluation_of,
    remedy_of,
    revise_until,
    score_of,
    unscored_spec,
)
from forethought.nodes.support.memory_text import rejected_text
from forethought.nodes.support.prompt_text import (
    Reader,
    plan_outline,
    plan_text,
    step_items,
    steps_text,
    trajectory,
)
from forethought.nodes.support.provenance import for_person, thread_origin
from forethought.nodes.support.services import Services, Turn
from forethought.nodes.support.situation import background, situation
from forethought.nodes.support.task import fail
from forethought.prompts.render import prompt_messages
from forethought.prompts.replies import (
    AnswerDraft,
    ForeseeingAnswer,
    RoundReflection,
)
from forethought.state.agent import AgentState, Draft, LongTerm, Source, Status, Step
from forethought.state.context import Context
from forethought.state.reducers import CLEAR, with_statuses
from forethought.training.prompt import reflection_prompt, trajectory_text


async def answer_agent(state: AgentState, runtime: Runtime[Context], *, services: Services) -> dict[str, Any]:
    """Draft the answer, mend it where that can be done at once, and end the task or the round.

    The draft of the round before stands where this one brought no step and discarded no result.
    """
    state = with_statuses(state)
    turn = await services.turn(runtime)
    turn, skipped = settle("answer_intra", turn, Moment(state, turn.context))
    context = turn.context
    old, progress = state.get("draft", {}), state["progress"]
    is_idle = progress["n"] == progress["round_n"] and not progress.get("discarded")
    if progress["round"] > 1 and is_idle:
        return _final(state, old, _status(state, passed=False, context=context), context)
    allowed = answer_allowance(state, context)
    revised = await _scored_draft(state, turn, allowed)
    spent = {"usage": revised.booked("answer", "answer_intra"), **skipped}
    if revised.best is None or revised.last is None:
        if not old.get("answer"):
            return {**spent, "plan": state.get("plan", {}), **fail(_why(revised, allowed))}
        return {**spent, **_final(state, old, _status(state, passed=False, context=context), context)}
    draft = _draft(revised.best, state, services, context)
    if not context.wants("answer_intra") or draft["score"] >= context.answer_threshold:
        return {**spent, **_final(state, draft, _status(state, passed=True), context)}
    best = old if old.get("answer") and old["score"] > draft["score"] else draft
    now: AgentState = {**state, "usage": {**state.get("usage", {}), "this turn": revised.usage}}
    if remedy_of(revised.last) != "facts" or not _next_round(now, context):
        return {**spent, **_final(state, best, _status(now, passed=False, context=context), context)}
    update = await _end_round(now, _draft(revised.last, state, services, context), best, turn)
    return {**spent, **update, "usage": {**spent["usage"], **update.get("usage", {})}}


async def _scored_draft(state: AgentState, turn: Turn, allowed: Allowance) -> Revised[AnswerDraft]:
    """The best-scored answer of at most 1 + max_revisions."""
    context = turn.context

    def may_revise(used: Usage) -> bool:
        return not exhausted(state, context, used, steps=False)

    return await revise_until(
        turn,
        "answer",
        answer_messages(state, turn.services, context),
        _spec(context),
        allowed,
        check=_checker(state),
        threshold=context.answer_threshold if context.wants("answer_intra") else None,
        may_revise=may_revise,
        event={"round": state["progress"]["round"]},
    )


def _why(result: Revised[AnswerDraft], allowed: Allowance) -> str:
    """Why there is no answer, and why none was asked for again."""
    why, error = result.problem, result.error
    if (budget := allowed.spent()) and not (error and isinstance(error.__cause__, OutOfTime)):
        why = f"{why}; the budget of {budget} is spent"
    return f"no valid answer was written ({why})"


def answer_messages(state: AgentState, services: Services, context: Context) -> list[Message]:
    """The answer agent's prompt: situation, the whole trajectory, and what became of the plan."""
    plan, progress = state.get("plan", {}), state.get("progress", {})
    reader = Reader(context.sizes, state.get("task", ""))
    is_done = plan.get("subtasks") and all(s["status"] == "finished" for s in plan["subtasks"])
    return prompt_messages(
        "answer_agent",
        intra=context.wants("answer_intra"),
        threshold=context.answer_threshold,
        foresees=context.foresees_user,
        **situation(state, services, context),
        steps=step_items(trajectory(state), reader, reader.sizes.answer, lambda step: _standing(step, state)),
        plan=plan_outline(plan, context.sizes),
        rejected=rejected_text(state.get("long_term", {})) if context.long_term_memory else "",
        stopped="" if is_done else progress.get("stopped", ""),
    )


def _standing(step: Step, state: AgentState) -> str:
    """What a finishing step's result is worth now: it stands, or it was discarded by a later plan."""
    if not step["finished"]:
        return ""
    result = state.get("results", {}).get(step["subtask"])
    if result and result["n"] == step["n"]:
        return "\nThis is the subtask's result."
    return "\nThis result was discarded by a later plan: do not rest on it."


def _draft(reply: AnswerDraft, state: AgentState, services: Services, context: Context) -> Draft:
    draft: Draft = {
        "answer": for_person(reply.answer, state, services.tools),
        "used_steps": sorted(set(reply.used_steps)),
        "evaluation": evaluation_of(reply),
        "score": score_of(reply) if context.wants("answer_intra") else 0,
        "round": state["progress"]["round"],
    }
    if isinstance(reply, ForeseeingAnswer) and reply.expected_reply:
        draft["expected_reply"] = reply.expected_reply
    return draft


def _status(state: AgentState, *, passed: bool, context: Context | None = None) -> Status:
    """`answered` only if the score passed, something of the plan is finished, and nothing failed, blocked or
    undone."""
    subtasks = state.get("plan", {}).get("subtasks", [])
    undone = any(subtask["status"] == "pending" for subtask in subtasks)
    lost = any(subtask["status"] in ("failed", "blocked") for subtask in subtasks)
    lost = lost or not any(subtask["status"] == "finished" for subtask in subtasks)
    stopped = state["progress"]["stopped"]
    if stopped and (undone or not subtasks):
        return "budget_exhausted"
    if context is not None and exhausted(state, context) and state["progress"]["round"] < context.max_rounds:
        return "budget_exhausted"
    return "answered" if passed and not lost else "best_effort"


def _next_round(state: AgentState, context: Context) -> bool:
    """Whether another round can help: one is left, a step and the reserve too."""
    return state["progress"]["round"] < context.max_rounds and not exhausted(state, context)


def _final(state: AgentState, draft: Draft, status: Status, context: Context) -> dict[str, Any]:
    steps = {step["n"]: step for step in state.get("trajectory", [])}  # a forgotten round's too
    sources: list[Source] = [
        {
            "n": n,
            "subtask": steps[n]["subtask"],
            "tool": steps[n]["tool"],
            "origin": _source_origin(state, n, steps[n]["origin"]),
        }
        for n in draft["used_steps"]
        if n in steps
    ]
    due = {"lessons": {**state.get("lessons", {}), "due": True}} if context.lessons else {}
    return {
        **due,
        "plan": state.get("plan", {}),
        "draft": draft,
        "answer": draft["answer"],
        "sources": sources,
        "status": status,
        "guidance": [],
        "messages": [AIMessage(draft["answer"])],
    }


def _source_origin(state: AgentState, n: int, origin: str) -> str:
    """A finishing step's own origin is the model; its result knows what it was made of."""
    if origin != "model":
        return origin
    made_of = [result["origin"] for result in state.get("results", {}).values() if result["n"] == n]
    return made_of[0] if made_of else origin


def _spec(context: Context) -> ReplySpec[AnswerDraft]:
    whole = ForeseeingAnswer if context.foresees_user else AnswerDraft
    make = reply_spec if context.wants("answer_intra") else unscored_spec
    return make(whole, "AnswerDraft")


def _checker(state: AgentState) -> Callable[[AnswerDraft], str | None]:
    good = [step["n"] for step in trajectory(state) if step["ok"]]

    def check(reply: AnswerDraft) -> str | None:
        wrong = next((n for n in reply.used_steps if n not in good), None)
        problem = f"used_steps names step {wrong}, which is no successful step; those are: {good or 'none'}"
        return None if wrong is None else problem

    return check


async def _end_round(state: AgentState, draft: Draft, best: Draft, turn: Turn) -> dict[str, Any]:
    """Record the round in long-term memory and begin the next; results and history stay (MIRROR 3.5).
    Without long-term memory the next begins as the first did.

    The reflection in the record is the answer agent's own evaluation, or, with `round_reflection`, one
    written by the retrospective role (SAMULE 3.2.2 trains a model for it).
    """
    progress = state["progress"]
    number = progress["round"]
    update: dict[str, Any] = {
        "draft": best,
        "progress": {**progress, "round": number + 1, "round_n": progress["n"], "discarded": []},
    }
    if not turn.context.long_term_memory:
        update["progress"]["start_n"] = progress["n"]
        cleared = {channel: {CLEAR: None} for channel in ("statuses", "results", "short_term")}
        return {**update, **cleared, "plan": {}}
    reflection = draft["evaluation"]
    if turn.context.round_reflection:
        reflection, usage = await _reflection(state, draft, turn)
        update["usage"] = {"retrospective": usage}
    return {**update, "long_term": {str(number): _record(state, draft, reflection)}}


def _record(state: AgentState, draft: Draft, reflection: str) -> LongTerm:
    progress = state["progress"]
    now = (progress["task"], progress["round"])
    reviews = [review for review in state.get("plan_reviews", []) if (review["task"], review["round"]) == now]
    return {
        "round": progress["round"],
        "origin": thread_origin(state),
        "plan": [
            {"id": s["id"], "description": s["description"], "status": s["status"]}
            for s in state["plan"].get("subtasks", [])
        ],
        "steps": [progress["round_n"] + 1, progress["n"]],
        "errors": [{**error} for review in reviews for error in review["errors"]],
        "answer": draft["answer"],
        "evaluation": draft["evaluation"],
        "score": draft["score"],
        "reflection": reflection,
    }


async def _reflection(state: AgentState, draft: Draft, turn: Turn) -> tuple[str, Usage]:
    """The retrospective role's reflection on the round; the evaluation where that role has no valid reply."""
    steps = [step for step in trajectory(state) if step["round"] == state["progress"]["round"]]
    system, user = reflection_prompt(
        task=state["task"],
        guidance=state.get("guidance", []),
        background=background(state, turn.context),
        trajectory=trajectory_text(
            plan=plan_text(state["plan"]),
            steps=steps_text(steps, reader=Reader(turn.context.sizes)),
            answer=draft["answer"],
            evaluation=draft["evaluation"],
            score=draft["score"],
        ),
    )
    result = await turn.ask(
        "retrospective",
        [Message("system", system), Message("user", user)],
        reply_spec(RoundReflection),
        allowance(state, turn.context),
        event={"round": state["progress"]["round"]},
    )
    return result.reply.reflection if result.reply else draft["evaluation"], result.usage
