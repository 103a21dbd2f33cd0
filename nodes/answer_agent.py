"""answer_agent: the answer from the whole trajectory, scored by its own author (MIRROR 3.3 to 3.5).

Below the threshold the round goes to long-term memory and the next round begins; after the last, the best
draft is returned. Departures from MIRROR: the steps that the answer rests on are named and checked; failed
and blocked subtasks are shown to it and kept in the status; a new round begins only if something can still be
done in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from forethought.models.allowance import Allowance
from forethought.models.types import Asked, OutOfTime, ReplyError, ReplySpec, reply_spec
from forethought.nodes.support.answer_prompt import answer_messages
from forethought.nodes.support.budget import answer_allowance, exhausted
from forethought.nodes.support.events import thinking
from forethought.nodes.support.inert import for_person
from forethought.nodes.support.prompt_text import trajectory
from forethought.nodes.support.rounds import end_round
from forethought.nodes.support.services import Services
from forethought.nodes.support.task import fail
from forethought.prompts.replies import AnswerDraft, AnswerUnscored, ForeseeingAnswer, ForeseeingUnscored
from forethought.state.agent import AgentState, Draft, Source, Status
from forethought.state.context import Context


async def answer_agent(state: AgentState, runtime: Runtime[Context], *, services: Services) -> dict[str, Any]:
    """Draft the answer, and end the task or the round."""
    context = services.context(runtime)
    thinking(runtime, "answer", round=state["progress"]["round"])
    allowed = answer_allowance(state, context)
    try:
        asked = await services.models.ask(
            role="answer",
            model=context.model_for("answer"),
            fallback=context.fallback_model,
            messages=answer_messages(state, context),
            reply=_spec(context),
            check=_checker(state),
            allowance=allowed,
        )
    except ReplyError as error:
        update = {"usage": {"answer": error.usage}}
        if state.get("draft", {}).get("answer"):
            status = _status(state, passed=False, context=context)
            return {**update, **_final(state, state["draft"], status, context)}
        return {**update, **fail(_why(error, allowed))}
    draft = _draft(asked, state, services, context)
    best = _better(state.get("draft", {}), draft)
    usage = {"answer": asked.usage}
    if not context.answer_intra or draft["score"] >= context.answer_threshold:
        return {"usage": usage, **_final(state, draft, _status(state, passed=True), context)}
    now: AgentState = {**state, "usage": {**state.get("usage", {}), "this turn": asked.usage}}
    if not _next_round(now, draft, context):
        return {"usage": usage, **_final(state, best, _status(now, passed=False, context=context), context)}
    update = await end_round(now, draft, best, runtime, services, context)
    return {**update, "usage": {**usage, **update.get("usage", {})}}


def _why(error: ReplyError, allowed: Allowance) -> str:
    """Why there is no answer, and why none was asked for again."""
    why = error.problem or str(error)
    if (budget := allowed.spent()) and not isinstance(error.__cause__, OutOfTime):
        why = f"{why}; the budget of {budget} is spent"
    return f"no valid answer was written ({why})"


def _draft(asked: Asked[AnswerDraft], state: AgentState, services: Services, context: Context) -> Draft:
    reply = asked.reply
    draft: Draft = {
        "answer": for_person(reply.answer, state, services.tools),
        "used_steps": sorted(set(reply.used_steps)),
        "evaluation": reply.evaluation,
        "score": reply.score if context.answer_intra else 0,
        "round": state["progress"]["round"],
    }
    if isinstance(reply, ForeseeingAnswer) and reply.expected_reply:
        draft["expected_reply"] = reply.expected_reply
    return draft


def _better(old: Draft, new: Draft) -> Draft:
    return old if old.get("answer") and old["score"] > new["score"] else new


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


def _next_round(state: AgentState, draft: Draft, context: Context) -> bool:
    """Whether another round can help: one is left, a step and the reserve too, and this one brought something
    new."""
    progress = state["progress"]
    if progress["round"] >= context.max_rounds or exhausted(state, context):
        return False
    old = state.get("draft", {}).get("answer")
    return progress["n"] > progress["round_n"] or draft["answer"] != old


def _final(state: AgentState, draft: Draft, status: Status, context: Context) -> dict[str, Any]:
    steps = {step["n"]: step for step in trajectory(state)}
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
    if context.answer_intra:
        return reply_spec(whole, "AnswerDraft")
    unscored = reply_spec(ForeseeingUnscored if context.foresees_user else AnswerUnscored, "AnswerDraft")

    def parse(value: Any) -> AnswerDraft:
        return whole(**unscored.parse(value).model_dump(), score=10)

    return ReplySpec("AnswerDraft", unscored.schema, parse, strict=unscored.strict)


def _checker(state: AgentState) -> Callable[[AnswerDraft], str | None]:
    good = [step["n"] for step in trajectory(state) if step["ok"]]

    def check(reply: AnswerDraft) -> str | None:
        wrong = [n for n in reply.used_steps if n not in good]
        if wrong:
            return (
                f"used_steps names step {wrong[0]}, which is no successful step; those are: {good or 'none'}"
            )
        return None

    return check
