"""weigh: proof and gate from the verdicts, and the advice in the book.

Three rates are compared: decisions that avoid the error with the advice, those that avoid it without, and
sound plans that the advice broke. The interval of their difference follows Newcombe (1998) from Wilson's
intervals of the rates, as Zou and Donner (2008) extend it to three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

from langgraph.runtime import Runtime

from forethought.experience.advice import Advice, Gate, Proof, State
from forethought.nodes.debugger.search import wilson
from forethought.nodes.learner.services import LearnerServices
from forethought.nodes.learner.trials import shuffled
from forethought.state.learner import LearnerContext, LearnerState, Trial

Rate = tuple[int, int]
"""How many of how many."""


async def weigh(
    state: LearnerState, runtime: Runtime[LearnerContext], *, services: LearnerServices
) -> dict[str, Any]:
    """Keep the advice with its proof and its gate. A person's advice is in use whatever they say."""
    right = {verdict["number"]: verdict["right"] for verdict in state["verdicts"]}
    trials = shuffled(state) if right else []
    proof, gate = proof_of(trials, right, bool(state["critical"])), gate_of(trials, right)
    draft = Advice.model_validate(state["advice"])
    advice = draft.model_copy(update={"proof": proof, "gate": gate, "state": state_of(draft, gate)})
    own = await services.own_advice(state)
    if own is not None:  # its score and its history go on
        kept = ("shown", "applied", "helped", "harmed", "tasks", "last_used", "replaces", "replaced_by")
        advice = advice.model_copy(update={name: getattr(own, name) for name in kept})
        if own.state in ("retired", "replaced", "dropped"):
            advice = advice.model_copy(update={"state": own.state})
    advice = await services.book.replace(state["known"] if advice.in_use else [], advice)
    return {"advice": advice.model_dump(mode="json"), "notes": [reason(advice)], "status": "learned"}


def difference(gain: Rate, *losses: Rate) -> tuple[float, float]:
    """The 95 % interval of the first rate minus the others; of a rate without a trial nothing is known."""
    low, high = wilson(*gain)
    rate = gain[0] / gain[1] if gain[1] else 0.5
    below, above = (rate - low) ** 2, (high - rate) ** 2
    value = rate
    for count, of in losses:
        low, high = wilson(count, of)
        rate = count / of if of else 0.5
        value -= rate
        below += (high - rate) ** 2
        above += (rate - low) ** 2
    return value - sqrt(below), value + sqrt(above)


def _rate(trials: Sequence[Trial], right: Mapping[int, bool], of: str, guided: bool) -> Rate:
    these = [right[one["number"]] for one in trials if one["of"] == of and one["guided"] == guided]
    return sum(these), len(these)


def proof_of(trials: Sequence[Trial], right: Mapping[int, bool], found: bool) -> Proof:
    """Whether the step is what made the run fail: proven if the interval is above 0."""
    flips, control = (_rate(trials, right, "failure", guided) for guided in (True, False))
    if not flips[1] or not found:
        return Proof(status="unknown")
    low, high = difference(flips, control)
    more_often = flips[0] * control[1] > control[0] * flips[1]
    return Proof(
        status="proven" if low > 0 else "suggested" if more_often else "unknown",
        flips=flips[0],
        runs=flips[1],
        control_flips=control[0],
        control_runs=control[1],
        low=low,
        high=high,
    )


def gate_of(trials: Sequence[Trial], right: Mapping[int, bool]) -> Gate:
    """What the advice prevented and broke, less what came right without it."""
    own, control = (_rate(trials, right, "failure", guided) for guided in (True, False))
    kind, (sound, successes) = (_rate(trials, right, of, True) for of in ("kind", "success"))
    failures = (own[0] + kind[0], own[1] + kind[1])
    broken = successes - sound
    low, high = difference(failures, control, (broken, successes))
    prevented = max(failures[0] - control[0], 0)
    return Gate(prevented=prevented, broken=broken, runs=failures[1] + successes, low=low, high=high)


def state_of(advice: Advice, gate: Gate) -> State:
    """How an advice is used: a person's at once; adopted if the gate's interval is above 0; dropped if it is
    below 0 or broke more than it prevented; else on probation."""
    if advice.outside:
        return "quarantined"
    if advice.source == "person" or gate.low > 0:
        return "adopted"
    return "dropped" if gate.high < 0 or gate.broken > gate.prevented else "probation"


def reason(advice: Advice) -> str:
    """Why the advice has its state, with the figures."""
    gate = advice.gate
    figures = f"prevented {gate.prevented}, broke {gate.broken} in {gate.runs} runs"
    interval = f"interval {gate.low:.2f} to {gate.high:.2f}"
    why = {
        "adopted": "adopted because a person said it" if advice.source == "person" else "adopted",
        "probation": "on probation: too few runs show that it helps",
        "quarantined": "in quarantine until you confirm it: its text came from outside",
        "dropped": "dropped: it breaks more than it prevents",
    }.get(advice.state, advice.state)
    return f"{why} ({figures}; {interval})"
