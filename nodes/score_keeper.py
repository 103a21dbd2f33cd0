"""score_keeper: count the effect of the advice that an answered task was shown. It asks no model.

The answer is in the state before this node begins. A task that is resumed here counts once, because each
advice remembers its tasks.
"""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from forethought.experience.advice import Outcome
from forethought.nodes.support.experience import found_errors, open_book, shown_advice, thread_of
from forethought.nodes.support.services import Services
from forethought.state.agent import AgentState
from forethought.state.context import Context


async def score_keeper(state: AgentState, runtime: Runtime[Context], *, services: Services) -> dict[str, Any]:
    """Count each shown advice: shown only, applied, or helped if the answer that it changed passed."""
    turn = await services.turn(runtime)
    experience = state.get("experience", {})
    book = open_book(runtime, turn.context)
    if book is not None:
        applied = {*experience.get("applied", []), *found_errors(state)}
        effect: Outcome = "helped" if state["status"] == "answered" else "applied"
        outcomes = {one["id"]: effect if one["id"] in applied else "shown" for one in shown_advice(state)}
        await book.count(thread_of(), state["progress"]["task"], outcomes)
    return {"experience": {**experience, "due": False}}
