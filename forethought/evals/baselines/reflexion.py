"""Reflexion: trials, each failed one reflected upon in words that the next one is shown (Shinn et al. 2023,
NeurIPS; baseline of MIRROR 4.1, PreFlect 4.1 and SAMULE 4.2).

START -> begin -> think -> act ... -> close -> judge -> reflect -> begin ... -> END

As in the paper, whether a trial succeeded is told by the benchmark where that is offered (the tables mark
it); else the model judges itself. Departures: all trials share the sample's budget. In a world, where a
failing trial seldom ends by itself, each trial but the last may take half of what is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from langgraph.graph import END

from forethought.evals.baselines.base import Baseline, attempt_of
from forethought.evals.baselines.bench import Bench
from forethought.evals.baselines.loop import Graph, last_of, new_graph
from forethought.evals.baselines.state import Limits, State, Try, moves_of
from forethought.evals.baselines.transcript import shown
from forethought.evals.prompts.baseline_replies import SelfJudgement, SelfReflection
from forethought.evals.types import BudgetSpent, TrialContext
from forethought.models.types import ReplyError, reply_spec

TRIALS = 3
MEMORY = 3
"""Maximum reflections shown to a trial: the last ones (Shinn et al., section 3: one to three)."""


class Reflexion(Baseline):
    """Trials with verbal reinforcement."""

    name = "reflexion"
    about = "Reflexion: reflects on failed trials and tries again (Shinn et al. 2023)"
    asks_outcome = True
    most_tries = TRIALS

    def tries(self, trial: TrialContext) -> int:
        """Tries at most: `--tries`, else the paper's."""
        return trial.budget.tries or self.most_tries

    def wire(self, bench: Bench) -> Graph:
        """See Baseline."""
        most = self.tries(bench.trial)
        graph = new_graph(bench, partial(half_in_a_world, most=most))
        graph.add_node("judge", partial(judge, bench=bench))
        graph.add_node("reflect", partial(self.reflect, bench=bench))
        graph.add_edge("close", "judge")
        graph.add_conditional_edges("judge", partial(after_judge, bench=bench, most=most), ["reflect", END])
        graph.add_conditional_edges("reflect", after_reflect, ["begin", END])
        return graph

    async def reflect(self, state: State, *, bench: Bench) -> dict[str, Any]:
        """What the trial teaches, kept for the trials after it."""
        return await reflect(state, bench=bench)


def half_in_a_world(number: int, bench: Bench, *, most: float) -> Limits:
    """In a world, half of the steps left for each try but the last; else everything."""
    shared = bench.tools.episode is not None and number < most
    return bench.limits(0.5, 0.5) if shared else bench.limits()


def after_judge(state: State, *, bench: Bench, most: int) -> str:
    """A failed trial is reflected upon if another one can be paid."""
    last = state["tried"][-1]
    again = not last["solved"] and last["number"] < most and bench.may_try_again(state)
    return "reflect" if again else END


def after_reflect(state: State) -> str:
    """The next trial begins with a reflection; without one it would be the same again."""
    return "begin" if len(state.get("notes", {}).get("all_reflections", [])) == state["number"] else END


async def judge(state: State, *, bench: Bench) -> dict[str, Any]:
    """Whether the trial succeeded: the benchmark's word, else the model's own."""
    last = state["tried"][-1]
    if bench.trial.outcome is not None:
        solved, verdict = await bench.trial.outcome(attempt_of(state, bench, last["number"])), ""
    else:
        solved, verdict = await _self_judged(state, bench)
    judged: Try = {**last, "solved": solved, "verdict": verdict}
    tried = [*state["tried"][:-1], judged]
    return {"tried": tried, "chosen": last["number"] if solved else last_of(tried, bench)}


async def _self_judged(state: State, bench: Bench) -> tuple[bool, str]:
    """Its verdict and its reasons. Without means to judge, a trial that came to an end counts as solved:
    there are none for another."""
    last = state["tried"][-1]
    try:
        reply = await bench.ask(
            "judge",
            reply_spec(SelfJudgement),
            task=state["task"],
            answer=last["answer"],
            **shown(moves_of(state)),
        )
    except (BudgetSpent, ReplyError):
        return last["ended"] in ("answered", "over"), ""
    return reply.solved, reply.reasoning


async def reflect(
    state: State, *, bench: Bench, errors: Sequence[Mapping[str, Any]] = (), examples: Sequence[str] = ()
) -> dict[str, Any]:
    """A prompted reflection, kept for the trials after it; `errors` and `examples` are what failures at other
    tasks showed."""
    reflections, last = state.get("notes", {}).get("all_reflections", []), state["tried"][-1]
    try:
        reply = await bench.ask(
            "reflect",
            reply_spec(SelfReflection),
            task=state["task"],
            answer=last["answer"],
            reflections=reflections[-MEMORY:],
            errors=errors,
            examples=examples,
            why=_why(state, bench),
            **shown(moves_of(state)),
        )
    except (BudgetSpent, ReplyError):
        return {}
    return remembered(state, reply.reflection)


def remembered(state: State, reflection: str) -> dict[str, Any]:
    """The update that shows a reflection to the trials after it."""
    reflections = [*state.get("notes", {}).get("all_reflections", []), reflection]
    return {"notes": {"all_reflections": reflections, "reflections": reflections[-MEMORY:]}}


def _why(state: State, bench: Bench) -> str:
    last = state["tried"][-1]
    own = f"By your own judgement: {last['verdict']}".rstrip(": .") + "."
    verdict = "By its evaluation, which gives no reason." if bench.trial.outcome is not None else own
    limits = {"steps": "its calls were used up", "tokens": "its means were spent", "no_reply": "it broke off"}
    return f"{verdict} It ended because {limits[last['ended']]}." if last["ended"] in limits else verdict
