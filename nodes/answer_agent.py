"""answer_agent: the answer from the whole trajectory, criticised by its own author (MIRROR 3.3 to 3.5).

In auto and low it begins with checks instead; what they find undone is done once (nodes/support/mending.py).
Below the threshold it is mended in place if the steps hold what that takes. If it takes facts that nobody has
looked for, the round goes to long-term memory and the next one begins. In the end the best draft is returned.
Departures from MIRROR: an answer is mended in place, and a new round begins only for facts, and only if
something can still be done in it; the steps that the answer rests on are named and checked; failed and
blocked subtasks are shown to it and kept in the status.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

from langgraph.runtime import Runtime

from forethought.models.allowance import Allowance, total
from forethought.models.types import Message, OutOfTime, Usage, reply_spec
from forethought.nodes.support.answer_reply import (
    answer_spec,
    checks_answer,
    unmet_text,
    will_stand,
)
from forethought.nodes.support.answer_stream import AnswerStream
from forethought.nodes.support.budget import allowance, answer_allowance, exhausted
from forethought.nodes.support.digest import digested_steps
from forethought.nodes.support.effort import Moment, settle
from forethought.nodes.support.experience import advice_ids, fitting_lines
from forethought.nodes.support.final import final_update
from forethought.nodes.support.intra_reflection import (
    Revised,
    evaluation_of,
    remedy_of,
    revise_until,
    score_of,
)
from forethought.nodes.support.memory_text import rejected_text
from forethought.nodes.support.mending import may_mend, mending, mending_update
from forethought.nodes.support.origins import thread_origin
from forethought.nodes.support.person_view import for_person, person_view
from forethought.nodes.support.plan_text import plan_outline, plan_text
from forethought.nodes.support.prompt_text import Reader, step_items, steps_text, trajectory
from forethought.nodes.support.services import Services, Turn
from forethought.nodes.support.situation import background, situation
from forethought.nodes.support.task import fail
from forethought.prompts.render import prompt_messages
from forethought.prompts.replies import (
    AnswerDraft,
    ForeseeingAnswer,
    RoundReflection,
)
from forethought.state.agent import AgentState, LongTerm, Status, Step
from forethought.state.context import Context
from forethought.state.draft import Draft
from forethought.state.reducers import CLEAR, with_statuses
from forethought.training.prompt import reflection_prompt, trajectory_text


async def answer_agent(state: AgentState, runtime: Runtime[Context], *, services: Services) -> dict[str, Any]:
    """Draft the answer, mend it where that can be done at once, and end the task or the round, or add a
    subtask for what is missing.

    The draft before stands where no step was made and no result discarded since.
    """
    state = with_statuses(state)
    turn = await services.turn(runtime)
    turn, skipped = settle("answer_intra", turn, Moment(state, turn.context))
    context = turn.context
    if _is_idle(state):
        old = state.get("draft", {})
        return final_update(state, old, _status(state, passed=False, context=context))
    stands = will_stand(context, mends=may_mend(state, context))
    stream = AnswerStream(turn, stands, person_view(state, services.tools))
    return await stream.finish({**await _answer(state, turn, services, stream), **skipped})


async def _answer(state: AgentState, turn: Turn, services: Services, stream: AnswerStream) -> dict[str, Any]:
    """The update of a drafted answer."""
    context, old = turn.context, state.get("draft", {})
    allowed = answer_allowance(state, context)
    revised = await _scored_draft(state, turn, allowed, stream)
    again = mending(state) is not None
    spent = {"usage": revised.booked("answer_checks" if again else "answer", "answer_intra")}
    if revised.best is None or revised.last is None:
        if not old.get("answer"):
            return {**spent, "plan": state.get("plan", {}), **fail(_why(revised, allowed))}
        return {**spent, **final_update(state, old, _status(state, passed=False, context=context))}
    draft = _draft(revised.best, state, services, context)
    if again and draft["answer"] != old["answer"]:
        spent["usage"]["answer_checks"] = total(revised.first, {"changed": 1})
    now: AgentState = {**state, "usage": {**state.get("usage", {}), "this turn": revised.usage}}
    if checks_answer(context):
        return {**spent, **_checked(revised.best, draft, now, context)}
    if not context.wants("answer_intra") or draft["score"] >= context.answer_threshold:
        return {**spent, **final_update(state, draft, _status(state, passed=True))}
    best = old if old.get("answer") and old["score"] > draft["score"] else draft
    if remedy_of(revised.last) != "facts" or not _next_round(now, context):
        return {**spent, **final_update(state, best, _status(now, passed=False, context=context))}
    update = await _end_round(now, _draft(revised.last, state, services, context), best, turn)
    return {**spent, **update, "usage": {**spent["usage"], **update.get("usage", {})}}


def _is_idle(state: AgentState) -> bool:
    """Whether there is a draft, and nothing was done since."""
    progress, mended = state["progress"], mending(state)
    if not mended and progress["round"] == 1:
        return False
    begun = max(mended["n"] if mended else 0, progress["round_n"])
    return progress["n"] == begun and not progress.get("discarded")


def _checked(reply: AnswerDraft, draft: Draft, state: AgentState, context: Context) -> dict[str, Any]:
    """What follows from the checks: the end, or the work that they found missing."""
    passed = not draft["evaluation"]
    if passed or not (reply.work and may_mend(state, context)) or exhausted(state, context):
        return final_update(state, draft, _status(state, passed=passed, context=None if passed else context))
    return {"draft": draft, **mending_update(reply, state, context)}


async def _scored_draft(
    state: AgentState, turn: Turn, allowed: Allowance, stream: AnswerStream
) -> Revised[AnswerDraft]:
    """The best-scored answer of at most 1 + max_revisions."""
    context = turn.context

    def may_revise(used: Usage) -> bool:
        return not exhausted(state, context, used, steps=False)

    return await revise_until(
        turn,
        "answer",
        answer_messages(state, turn.services, context),
        answer_spec(context, mends=may_mend(state, context), advised=bool(fitting_lines(state))),
        allowed,
        threshold=context.answer_threshold if context.wants("answer_intra") else None,
        may_revise=may_revise,
        event={"round": state["progress"]["round"]},
        listener=stream.listener,
    )


def _why(result: Revised[AnswerDraft], allowed: Allowance) -> str:
    """Why there is no answer, and why none was asked for again."""
    why, error = result.problem, result.error
    if (budget := allowed.spent()) and not (error and isinstance(error.__cause__, OutOfTime)):
        why = f"{why}; the budget of {budget} is spent"
    return f"the answer agent gave no valid answer ({why})"


def answer_messages(state: AgentState, services: Services, context: Context) -> list[Message]:
    """The answer agent's prompt: situation, the whole trajectory, and what became of the plan."""
    plan, progress = state.get("plan", {}), state.get("progress", {})
    reader = Reader(context.sizes, state.get("task", ""))
    checks, room = checks_answer(context), reader.sizes.answer
    digested = digested_steps(state) if context.effort != "paper" else ()
    is_done = plan.get("subtasks") and all(s["status"] == "finished" for s in plan["subtasks"])
    return prompt_messages(
        "answer_agent",
        checks=checks,
        mends=checks and may_mend(state, context),
        intra=context.wants("answer_intra"),
        threshold=context.answer_threshold,
        foresees=context.foresees_user,
        **situation(state, services, context, decides=not trajectory(state)),
        advice=fitting_lines(state),
        steps=step_items(trajectory(state), reader, room, partial(_standing, state, digested), digested),
        plan=plan_outline(plan, context.sizes, known=bool(state.get("folders"))),
        rejected=rejected_text(state.get("long_term", {})) if context.long_term_memory else "",
        stopped="" if is_done else progress.get("stopped", ""),
    )


def _standing(state: AgentState, digested: Collection[int], step: Step) -> str:
    """What a finishing step's result is worth now: it stands, which goes without saying of one that others
    have used, or it was discarded by a later plan."""
    if not step["finished"]:
        return ""
    result = state.get("results", {}).get(step["subtask"])
    if not result or result["n"] != step["n"]:
        return "\nThis result was discarded by a later plan: do not rest on it."
    return "" if step["n"] in digested else "\nThis is the subtask's result."


def _draft(reply: AnswerDraft, state: AgentState, services: Services, context: Context) -> Draft:
    good = {step["n"] for step in trajectory(state) if step["ok"]}
    draft: Draft = {
        "answer": for_person(reply.answer, state, services.tools),
        "used_steps": sorted(good.intersection(reply.used_steps)),
        "evaluation": unmet_text(reply) or evaluation_of(reply),
        "checks": [{"about": c.about, "done": c.done, "ok": c.ok} for c in reply.checks],
        "score": score_of(reply) if context.wants("answer_intra") else 0,
        "round": state["progress"]["round"],
    }
    if applied := advice_ids(reply.advice, state):
        draft["advice"] = applied
    if isinstance(reply, ForeseeingAnswer) and reply.expected_reply:
        draft["expected_reply"] = reply.expected_reply
    return draft


def _status(state: AgentState, *, passed: bool, context: Context | None = None) -> Status:
    """`answered` only if the score passed, and nothing of the plan failed, was blocked or is undone; without
    anything finished only if no step was needed."""
    subtasks = state.get("plan", {}).get("subtasks", [])
    undone = any(subtask["status"] == "pending" for subtask in subtasks)
    lost = any(subtask["status"] in ("failed", "blocked") for subtask in subtasks)
    worked = subtasks or trajectory(state)
    lost = lost or bool(worked and not any(subtask["status"] == "finished" for subtask in subtasks))
    stopped = state["progress"]["stopped"]
    if stopped and (undone or not subtasks):
        return "budget_exhausted"
    if context is not None and exhausted(state, context) and state["progress"]["round"] < context.max_rounds:
        return "budget_exhausted"
    return "answered" if passed and not lost else "best_effort"


def _next_round(state: AgentState, context: Context) -> bool:
    """Whether another round can help: one is left, a step and the reserve too."""
    return state["progress"]["round"] < context.max_rounds and not exhausted(state, context)


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
