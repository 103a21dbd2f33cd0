"""Self-Refine: a draft, the model's own feedback on it, a better draft, until the feedback finds nothing
(Madaan et al. 2023, NeurIPS; baseline of PreFlect 4.1 and AgentDebug 4.2).

START -> begin -> think -> act ... -> close -> feedback -> begin ... -> END

Departures: drafts are made by ReAct, so that refining may look things up. Without a world the history goes
on from one draft to the next; in a world each draft is a try from its beginning, as AgentDebug has it.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from langgraph.graph import END

from forethought.evals.baselines.base import Baseline
from forethought.evals.baselines.bench import Bench
from forethought.evals.baselines.loop import Graph, new_graph
from forethought.evals.baselines.reflexion import half_in_a_world
from forethought.evals.baselines.state import State, moves_of
from forethought.evals.baselines.transcript import shown
from forethought.evals.prompts.baseline_replies import DraftFeedback
from forethought.evals.types import BudgetSpent, TrialContext
from forethought.models.types import ReplyError, reply_spec

DRAFTS = 4
"""Maximum drafts (Madaan et al., section 3: four iterations)."""


class SelfRefine(Baseline):
    """Iterative self-feedback, without any verdict from outside."""

    name = "self-refine"
    about = "Self-Refine: draft, self-feedback, better draft (Madaan et al. 2023)"
    drafts: int | None = DRAFTS
    """None: as many as the token budget pays for, whatever the feedback finds."""

    def notes(self, trial: TrialContext) -> dict[str, Any]:
        """See Baseline."""
        return {"one_history": trial.episode is None}

    def wire(self, bench: Bench) -> Graph:
        """See Baseline."""
        graph = new_graph(bench, partial(half_in_a_world, most=self.drafts or math.inf))
        graph.add_node("feedback", partial(feedback, bench=bench, drafts=self.drafts))
        graph.add_conditional_edges(
            "close", partial(after_close, bench=bench, drafts=self.drafts), ["feedback", END]
        )
        graph.add_conditional_edges("feedback", after_feedback, ["begin", END])
        return graph


class RefineToBudget(SelfRefine):
    """Goes on until the sample's tokens are spent, so that a method that takes more is matched."""

    name = "self-refine-budget"
    about = "Self-Refine with as many drafts as --tokens pays for, whatever its feedback finds"
    drafts = None


def after_close(state: State, *, bench: Bench, drafts: int | None) -> str:
    """A draft is fed back on if a better one can be paid."""
    again = state["number"] < drafts and bench.may_try_again(state) if drafts else bench.pays_another(state)
    return "feedback" if again else END


def after_feedback(state: State) -> str:
    """The next draft, unless nothing is to be mended."""
    return "begin" if len(state.get("notes", {}).get("feedback", [])) == state["number"] else END


async def feedback(state: State, *, bench: Bench, drafts: int | None) -> dict[str, Any]:
    """What is to be mended in the last draft; nothing is kept where it is good."""
    given, answer = state.get("notes", {}).get("feedback", []), state["answer"]
    try:
        reply = await bench.ask(
            "feedback",
            reply_spec(DraftFeedback),
            task=state["task"],
            feedback=given,
            answer=answer,
            **shown(moves_of(state)),
        )
    except (BudgetSpent, ReplyError):
        return {}
    if reply.good and drafts:
        return {}
    draft = answer or "(no answer; what was done in the environment counts)"
    return {"notes": {"feedback": [*given, {"draft": draft, "feedback": reply.feedback}]}}
