"""The end of a task with an answer."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage

from forethought.state.agent import AgentState, Status
from forethought.state.draft import Draft, Source


def final_update(state: AgentState, draft: Draft, status: Status) -> dict[str, Any]:
    """The update that ends the task with the answer of `draft`, and names the steps that it rests on."""
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
    return {
        **_experience(state, draft),
        "plan": state.get("plan", {}),
        "draft": draft,
        "answer": draft["answer"],
        "sources": sources,
        "status": status,
        "guidance": [],
        "messages": [AIMessage(draft["answer"], additional_kwargs=_names(state, draft))],
    }


def _experience(state: AgentState, draft: Draft) -> dict[str, Any]:
    """The channel `experience` for the score keeper; nothing if no advice was shown."""
    experience = state.get("experience", {})
    if not experience.get("shown"):
        return {}
    return {"experience": {**experience, "applied": draft.get("advice", []), "due": True}}


def _names(state: AgentState, draft: Draft) -> dict[str, Any]:
    """The part of the answer's message that names the advice that changed it."""
    shown = state.get("experience", {}).get("shown", [])
    names = [one["name"] for one in shown if one["id"] in draft.get("advice", [])]
    return {"advice": names} if names else {}


def _source_origin(state: AgentState, n: int, origin: str) -> str:
    """A finishing step's own origin is the model; its result knows what it was made of."""
    if origin != "model":
        return origin
    made_of = [result["origin"] for result in state.get("results", {}).values() if result["n"] == n]
    return made_of[0] if made_of else origin
