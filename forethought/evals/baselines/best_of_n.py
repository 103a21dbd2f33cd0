"""Best-of-N: independent ReAct tries, of which the model chooses one (self-consistency, Wang et al. 2022;
baseline of AgentDebug 4.2 and of its figure 5).

START -> begin -> think -> act ... -> close -> begin ... -> select -> END

Departures: the choice is the model's own, never the benchmark's verdict: a majority of equal answers decides,
else the model is asked to compare the tries. Each try has an equal part of the sample's budget. Tries differ
by the model's own sampling and by a note in the prompt.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

from langgraph.graph import END

from forethought.evals.baselines.base import Baseline
from forethought.evals.baselines.bench import Bench
from forethought.evals.baselines.loop import Graph, new_graph
from forethought.evals.baselines.state import Limits, State, Try
from forethought.evals.baselines.transcript import try_text
from forethought.evals.prompts.baseline_replies import Selection
from forethought.evals.types import BudgetSpent, TrialContext
from forethought.models.types import ReplyError, reply_spec

TRIES = 3
TRY_CHARS = 12_000
"""Maximum characters of a try in the comparison: its end and its answer."""


class BestOfN(Baseline):
    """Independent tries and a choice."""

    name = "best-of-n"
    about = f"Best-of-N: {TRIES} independent ReAct tries; a majority or the model chooses"
    tries: int | None = TRIES
    """None: as many as the token budget pays for."""

    def notes(self, trial: TrialContext) -> dict[str, Any]:
        """See Baseline."""
        return {"attempt": {"total": self.tries, "seed": trial.seed}}

    def wire(self, bench: Bench) -> Graph:
        """See Baseline."""
        graph = new_graph(bench, partial(equal_part, tries=self.tries))
        graph.add_node("select", partial(select, bench=bench))
        graph.add_conditional_edges(
            "close", partial(after_close, bench=bench, tries=self.tries), ["begin", "select"]
        )
        graph.add_edge("select", END)
        return graph


class BestOfBudget(BestOfN):
    """As many tries as the sample's tokens pay for, so that a method that takes more is matched."""

    name = "best-of-n-budget"
    about = "Best-of-N with as many ReAct tries as --tokens pays for"
    tries = None


def equal_part(number: int, bench: Bench, *, tries: int | None) -> Limits:
    """An equal part for each of the tries that are left; all that is left where their number is open."""
    part = 1 / max(tries - number + 1, 1) if tries else 1.0
    return bench.limits(part, part)


def after_close(state: State, *, bench: Bench, tries: int | None) -> str:
    """The next try, as long as one is left and can be paid."""
    again = state["number"] < tries and bench.may_try_again(state) if tries else bench.pays_another(state)
    return "begin" if again else "select"


async def select(state: State, *, bench: Bench) -> dict[str, Any]:
    """The try that counts."""
    tried = state["tried"]
    candidates = [item for item in tried if item["answer"]] if bench.tools.episode is None else tried
    if len(candidates) < 2:
        return {"chosen": (candidates or tried)[0]["number"]}
    if bench.tools.episode is None and (agreed := majority(candidates)):
        return {"chosen": agreed}
    return {"chosen": await _ask(state, candidates, bench)}


def majority(candidates: list[Try]) -> int | None:
    """The first try of those that more than half agree on; None where there is no such answer."""
    answers = {item["number"]: " ".join(item["answer"].casefold().split()).rstrip(".") for item in candidates}
    answer, votes = Counter(answers.values()).most_common(1)[0]
    return (
        next(number for number, own in answers.items() if own == answer) if 2 * votes > len(answers) else None
    )


async def _ask(state: State, candidates: list[Try], bench: Bench) -> int:
    numbers = [item["number"] for item in candidates]

    def check(reply: Selection) -> str | None:
        return None if reply.choice in numbers else f"there is no try {reply.choice}; tries are {numbers}"

    tries = [{"number": number, "text": try_text(state, number, TRY_CHARS)} for number in numbers]
    shown = {"task": state["task"], "tries": tries}
    try:
        reply = await bench.ask("select", reply_spec(Selection), check, **shown)
    except (BudgetSpent, ReplyError):
        done = [item["number"] for item in candidates if item["ended"] in ("answered", "over")]
        return (done or numbers)[0]
    return reply.choice
