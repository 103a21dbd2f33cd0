"""The end of a round whose answer was not good enough: its record in long-term memory (MIRROR 3.5).

The reflection in it is the answer agent's own evaluation, or, with `round_reflection`, one written by the
retrospective role (SAMULE 3.2.2 trains a model for it).
"""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from forethought.models.types import Message, ReplyError, Usage, reply_spec
from forethought.nodes.support.budget import allowance
from forethought.nodes.support.events import thinking
from forethought.nodes.support.prompt_text import files_text, plan_text, steps_text, trajectory
from forethought.nodes.support.provenance import thread_origin
from forethought.nodes.support.services import Services
from forethought.prompts.replies import RoundReflection
from forethought.state.agent import AgentState, Draft, LongTerm, PlanError
from forethought.state.context import Context
from forethought.training.prompt import reflection_prompt, trajectory_text


async def end_round(
    state: AgentState,
    draft: Draft,
    best: Draft,
    runtime: Runtime[Context],
    services: Services,
    context: Context,
) -> dict[str, Any]:
    """Record the round in long-term memory and begin the next; results and history stay."""
    progress = state["progress"]
    number = progress["round"]
    update: dict[str, Any] = {
        "draft": best,
        "progress": {**progress, "round": number + 1, "round_n": progress["n"]},
    }
    if context.long_term_memory:
        reflection = draft["evaluation"]
        if context.round_reflection:
            reflection, usage = await _reflection(state, draft, runtime, services, context)
            update["usage"] = {"retrospective": usage}
        update["long_term"] = {str(number): _record(state, draft, reflection)}
    return update


def _record(state: AgentState, draft: Draft, reflection: str) -> LongTerm:
    progress = state["progress"]
    return {
        "round": progress["round"],
        "origin": thread_origin(state),
        "plan": [
            {"id": s["id"], "description": s["description"], "status": s["status"]}
            for s in state["plan"].get("subtasks", [])
        ],
        "steps": [progress["round_n"] + 1, progress["n"]],
        "errors": [dict(error) for error in _errors_of_round(state)],
        "answer": draft["answer"],
        "evaluation": draft["evaluation"],
        "score": draft["score"],
        "reflection": reflection,
    }


def _errors_of_round(state: AgentState) -> list[PlanError]:
    now = (state["progress"]["task"], state["progress"]["round"])
    reviews = [review for review in state.get("plan_reviews", []) if (review["task"], review["round"]) == now]
    return [error for review in reviews for error in review["errors"]]


async def _reflection(
    state: AgentState, draft: Draft, runtime: Runtime[Context], services: Services, context: Context
) -> tuple[str, Usage]:
    """The retrospective role's reflection on the round; its own evaluation where that role has no valid
    reply."""
    steps = [step for step in trajectory(state) if step["round"] == state["progress"]["round"]]
    files = state.get("files", [])
    system, user = reflection_prompt(
        task=state["task"],
        guidance=state.get("guidance", []),
        background=files_text(files) if files else "",
        trajectory=trajectory_text(
            plan=plan_text(state["plan"]),
            steps=steps_text(steps),
            answer=draft["answer"],
            evaluation=draft["evaluation"],
            score=draft["score"],
        ),
    )
    thinking(runtime, "retrospective", round=state["progress"]["round"])
    try:
        asked = await services.models.ask(
            role="retrospective",
            model=context.model_for("retrospective"),
            fallback=context.fallback_model,
            reply=reply_spec(RoundReflection),
            messages=[Message("system", system), Message("user", user)],
            allowance=allowance(state, context),
        )
    except ReplyError as error:
        return draft["evaluation"], error.usage
    return asked.reply.reflection, asked.usage
