"""Searches for the critical step by trying steps (AgentDebug 3.2 and 4.1).

Brute force and binary search are the paper's baselines: a model judges whether a corrected step would have
saved the run. The paper does not say what its binary search asks at the midpoint. Only a question whose
answers are ordered along the run can be halved: whether, just before the step, the goal was still within
reach. So brute force finds the first step whose own correction saves the run, and binary search the last step
before which the run was not yet lost.

Counterfactual testing replaces a step's action and runs on `trials` times, step by step from the first. Where
that succeeds often enough, the same is done without a correction: if the run turns out well about as often by
itself, chance and not this step decided it, and the search goes on. The paper has no such control.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import TypeVar

from langgraph.runtime import Runtime
from pydantic import BaseModel

from forethought.models.allowance import total
from forethought.models.types import Message, ReplyError, Usage, no_usage
from forethought.nodes.debugger.messages import salvage_messages, substitution_messages
from forethought.nodes.debugger.services import DebugServices, verdict_on
from forethought.nodes.support.offline import exhausted
from forethought.prompts.debug_replies import Salvage, Substitution
from forethought.rollouts.types import Evaluator, RolloutError
from forethought.state.debugger import DebuggerContext, DebuggerState, Probe
from forethought.text import one_line
from forethought.trajectories.types import Trajectory, TrajectoryStep

R = TypeVar("R", bound=BaseModel)
Z95 = 1.959963984540054
"""The normal distribution's quantile for 95 %, two-sided."""


@dataclass(frozen=True)
class FoundStep:
    """A step that was found by trying."""

    number: int
    how: str
    """What the search tried, in a sentence or two."""
    proven: bool | None = None
    """Whether re-runs prove it or only suggest it; None where a model judged instead."""


class SearchStopped(RuntimeError):
    """A search that could not go on, and why, in one line."""


@dataclass
class Search:
    """What stage 2 looks at, and a record of what it tried and what that cost, by role."""

    state: DebuggerState
    runtime: Runtime[DebuggerContext]
    services: DebugServices
    probes: list[Probe] = field(default_factory=list)
    usage: dict[str, Usage] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context = self.services.context(self.runtime)
        self.trajectory = Trajectory.model_validate(self.state["subject"])

    async def ask(
        self,
        role: str,
        messages: Sequence[Message],
        reply: type[R],
        check: Callable[[R], str | None] | None = None,
    ) -> R:
        """The checked reply. Raises SearchStopped when the budget is spent, ModelError."""
        self.check_budget()
        try:
            result = await self.services.request(self.runtime, role, messages, reply, check)
        except ReplyError as error:
            self.book(role, error.usage)
            raise
        self.book(role, result.usage)
        return result.reply

    def check_budget(self) -> None:
        """Raises SearchStopped when the budget is spent."""
        if why := exhausted(self.state, self.context, total(*self.usage.values())):
            raise SearchStopped(f"{why} before a critical error was found: raise the budget")

    def book(self, role: str, usage: Usage) -> None:
        """Add to what was spent."""
        self.usage[role] = total(self.usage.get(role, no_usage()), usage)


async def brute_force(search: Search) -> FoundStep | None:
    """The first step, from the beginning on, whose correction saves the run: one probe a step until then."""
    for step in search.trajectory.steps:
        if await _is_saved(search, step, "alone"):
            return FoundStep(
                step.number,
                "The model judged each step in turn. Step {step.number} is the first whose correction "
                "would save the run.",
            )
    return None


async def binary_search(search: Search) -> FoundStep | None:
    """The last step at which the run could still be saved, found by halving: O(log n) probes."""
    steps = search.trajectory.steps
    low, high = 0, len(steps)  # all before `low` can be saved at, none from `high` on
    while low < high:
        middle = (low + high) // 2
        if await _is_saved(search, steps[middle], "still"):
            low = middle + 1
        else:
            high = middle
    if not low:
        return None
    number = steps[low - 1].number
    how = f"By binary search: step {number} is the last at which the run could still be saved."
    return FoundStep(number, how)


async def _is_saved(search: Search, step: TrajectoryStep, question: str) -> bool:
    """The model's judgement of whether the run could have been saved at `step`; without one, no."""
    saved, reasoning = False, ""
    try:
        messages = salvage_messages(search.trajectory, step.number, question, search.context)
        reply = await search.ask("probe", messages, Salvage)
        saved, reasoning = reply.saved, reply.reasoning
    except ReplyError as error:
        reasoning = f"no valid judgement: {error.problem or error}"
    search.probes.append(Probe(step=step.number, flips=int(saved), trials=0, reasoning=reasoning))
    return saved


async def counterfactual(search: Search) -> FoundStep | None:
    """The earliest step whose correction flips the end at a rate of `flip_rate` or more, not by chance.

    Proven is it where the rate's interval lies above the control's.
    """
    evaluator = search.services.evaluator(search.context, search.state.get("accepted", []))
    if evaluator is None:
        raise SearchStopped(
            "counterfactual mode needs a judge: give the expected answer (--expect), or choose "
            "another --judge"
        )
    reached = False
    for step in search.trajectory.steps:
        probe = await _run_corrected(search, step, evaluator)
        search.probes.append(probe)
        reached = reached or "rate" in probe
        if probe.get("rate", 0.0) < search.context.flip_rate:
            continue
        by_chance = await _run_on(search, step, step.action, evaluator, control=True)
        search.probes.append(by_chance)
        if by_chance["rate"] < search.context.flip_rate:
            return _flipped(search, probe, by_chance)
        search.notes.append(
            f"step {step.number}: the run succeeds about as often without the correction, so chance "
            "explains it"
        )
    if not reached:
        raise SearchStopped("no step could be run again: the notes say why")
    return None


def _flipped(search: Search, probe: Probe, control: Probe) -> FoundStep:
    """The step whose correction turned the run more often than its own action did."""
    number, proven = probe["step"], probe["low"] > control["high"]
    if not proven:
        search.notes.append(
            f"step {number} is suggested, not proven: the interval {_interval(probe)} with its correction "
            f"overlaps {_interval(control)} without; raise --trials"
        )
    how = (
        f"The search replaced the step's action by: {probe['substitution']!r}. The run then "
        f"succeeded {probe['flips']} of "
        f"{probe['trials']} times, and {control['flips']} of {control['trials']} times with its own action. "
        f"That {'proves' if proven else 'suggests'} that this step decided the run; no correction of an "
        "earlier step that could be tried did as much."
    )
    return FoundStep(number, how, proven)


def _interval(probe: Probe) -> str:
    return f"{probe['low']:.2f} to {probe['high']:.2f}"


async def _run_corrected(search: Search, step: TrajectoryStep, evaluator: Evaluator) -> Probe:
    """The step with a corrected action; without a `rate` where it could not be tried."""
    messages = substitution_messages(search.trajectory, step.number, search.context)
    try:
        correction = await search.ask("probe", messages, Substitution)
    except ReplyError as error:
        why = f"no valid substitution: {error.problem or error}"
        return Probe(step=step.number, flips=0, trials=0, reasoning=why)
    if one_line(correction.action) == one_line(step.action):
        # What comes of the same action again says nothing of the step.
        probe = Probe(step=step.number, substitution=step.action, flips=0, trials=0, rate=0.0)
        return {**probe, "reasoning": correction.thought}
    try:
        probe = await _run_on(search, step, correction.action, evaluator, control=False)
    except RolloutError as error:
        search.notes.append(f"step {step.number} could not be run again: {error}")
        return Probe(step=step.number, flips=0, trials=0, reasoning=str(error))
    return {**probe, "reasoning": correction.thought}


async def _run_on(
    search: Search, step: TrajectoryStep, action: str, evaluator: Evaluator, *, control: bool
) -> Probe:
    """How many of `trials` continuations with `action` in the place of the step's own succeeded, of how many
    that were faithful: a replay whose prefix came out otherwise proves nothing about this run.

    Raises RolloutError where the step cannot be run from, SearchStopped, ModelError.
    """
    context, flips, faithful, diverged = search.context, 0, 0, ""
    tool, arguments = (step.tool, dict(step.arguments)) if control else ("", {})
    for _ in range(context.trials):
        search.check_budget()
        spent = total(*search.usage.values())
        rollouts = search.services.rollouts_for(search.trajectory, search.state, context, spent)
        continuation = await rollouts.substituted(step.number, action, tool, arguments)
        search.book("rerun", continuation.usage)
        if continuation.diverged:
            diverged = diverged or continuation.diverged
            continue
        verdict = await verdict_on(evaluator, continuation.trajectory, continuation.reward)
        search.book("judge", verdict.usage)
        faithful += 1
        flips += verdict.success
    if diverged:
        search.notes.append(
            f"step {step.number}: {context.trials - faithful} of {context.trials} replays do not "
            f"count: {diverged}"
        )
    low, high = wilson(flips, faithful)
    return Probe(
        step=step.number,
        substitution=action,
        control=control,
        flips=flips,
        trials=faithful,
        rate=flips / faithful if faithful else 0.0,
        low=low,
        high=high,
        diverged=diverged,
    )


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % confidence interval of a rate (Wilson's score interval); (0, 1) where nothing was tried."""
    if not trials:
        return 0.0, 1.0
    rate, z2 = successes / trials, Z95**2
    centre = (rate + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z95 * sqrt(rate * (1 - rate) / trials + z2 / (4 * trials**2)) / (1 + z2 / trials)
    return max(centre - half, 0.0), min(centre + half, 1.0)


SEARCHES: dict[str, Callable[[Search], Awaitable[FoundStep | None]]] = {
    "brute_force": brute_force,
    "binary_search": binary_search,
    "counterfactual": counterfactual,
}
