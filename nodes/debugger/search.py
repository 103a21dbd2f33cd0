"""Searches for the critical step by trying steps (AgentDebug 3.2 and 4.1).

Brute force and binary search are the paper's baselines. Where a step's action can be replaced and the run
made on, they do that; else a model judges what would have come of it. The paper does not say what its
binary search asks at the midpoint. Only a question whose answers are ordered along the run can be halved:
whether, just before the step, the goal was still within reach. So brute force finds the first step whose
own correction turns the run, and binary search the last step before which the run was not yet lost.

Counterfactual testing replaces a step's action and runs on `trials` times, step by step from the first. Where
that succeeds often enough, the same is done without a correction: if the run turns out well about as often by
itself, chance and not this step decided it, and the search goes on. The paper has no such control.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Literal, TypeVar

from langgraph.runtime import Runtime
from pydantic import BaseModel

from forethought.models.allowance import total
from forethought.models.types import Message, ReplyError, Usage, no_usage
from forethought.nodes.debugger.messages import salvage_messages, substitution_messages
from forethought.nodes.debugger.services import DebugServices, verdict_on
from forethought.nodes.support.offline import exhausted
from forethought.prompts.debug_replies import Salvage, Substitution
from forethought.rollouts.types import Evaluator, RolloutError, Rollouts
from forethought.state.debugger import DebuggerContext, DebuggerState, Probe
from forethought.text import one_line
from forethought.trajectories.types import Trajectory, TrajectoryStep

R = TypeVar("R", bound=BaseModel)
Question = Literal["alone", "still"]
FoundStep = tuple[int, str]
"""The number of the step that was found, and a sentence on how."""
Z95 = 1.959963984540054
"""The normal distribution's quantile for 95 %, two-sided."""


class SearchStopped(RuntimeError):
    """A search that could not go on, and why, in one line."""


@dataclass
class Prober:
    """Tries steps of one trajectory, and records what was tried and what it cost, by role."""

    state: DebuggerState
    runtime: Runtime[DebuggerContext]
    trajectory: Trajectory
    context: DebuggerContext
    services: DebugServices
    probes: list[Probe] = field(default_factory=list)
    usage: dict[str, Usage] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._evaluator: Evaluator | None = self.services.evaluator(
            self.context, self.state.get("accepted", [])
        )

    @property
    def total_usage(self) -> Usage:
        """The sum over the roles."""
        return total(*self.usage.values())

    def can_run(self) -> bool:
        """Whether a step's action can really be replaced: there is a place to run this run in, and somebody
        who judges."""
        try:
            return self._evaluator is not None and self._rollouts() is not None
        except RolloutError:
            return False

    async def correct(self, step: TrajectoryStep) -> Substitution | None:
        """The action that the model would have taken; None, with a probe that says why, when no valid one
        came."""
        try:
            return await self._ask(
                substitution_messages(self.trajectory, step.number, self.context), Substitution
            )
        except ReplyError as error:
            self._add_failed(step, f"no valid substitution: {error.problem or error}")
            return None

    async def judge_salvage(self, step: TrajectoryStep, question: Question) -> bool:
        """The model's judgement of whether the run could have been saved at `step`."""
        try:
            messages = salvage_messages(self.trajectory, step.number, question, self.context)
            reply = await self._ask(messages, Salvage)
        except ReplyError as error:
            self._add_failed(step, f"no valid judgement: {error.problem or error}")
            return False
        self.probes.append(
            Probe(step=step.number, flips=int(reply.saved), trials=0, reasoning=reply.reasoning)
        )
        return reply.saved

    async def run_on(self, step: TrajectoryStep, action: str, times: int, *, control: bool) -> Probe | None:
        """How many of `times` continuations with `action` in the place of the step's own succeeded, of how
        many that were faithful: a replay whose prefix came out otherwise proves nothing about this run.

        None, with a probe and a note that say why, where the step cannot be run from. Raises SearchStopped
        when the budget is spent, ModelError.
        """
        try:
            probe = await self._continuations(step, action, times, control=control)
        except RolloutError as error:
            self._add_failed(step, str(error))
            self.notes.append(f"step {step.number} could not be tried: {error}")
            return None
        self.probes.append(probe)
        if probe["diverged"]:
            self.notes.append(
                f"step {step.number}: {times - probe['trials']} of {times} replays are not counted, since "
                f"{probe['diverged']}"
            )
        return probe

    def is_unchanged(self, step: TrajectoryStep, substitution: Substitution) -> bool:
        """Whether nothing was corrected; then that is the probe, since what comes of the same action again
        says nothing of the step."""
        if one_line(substitution.action) != one_line(step.action):
            return False
        probe = Probe(step=step.number, substitution=step.action, flips=0, trials=0, rate=0.0)
        self.probes.append({**probe, "reasoning": substitution.thought})
        return True

    async def _continuations(self, step: TrajectoryStep, action: str, times: int, *, control: bool) -> Probe:
        assert self._evaluator is not None
        probe = Probe(step=step.number, substitution=action, control=control, flips=0, trials=0, diverged="")
        tool, arguments = (step.tool, dict(step.arguments)) if control else ("", {})
        for _ in range(times):
            self._check_budget()
            continuation = await self._rollouts().substituted(step.number, action, tool, arguments)
            self._book("rerun", continuation.usage)
            if continuation.diverged:
                probe["diverged"] = probe["diverged"] or continuation.diverged
                continue
            verdict = await verdict_on(self._evaluator, continuation.trajectory, continuation.reward)
            self._book("judge", verdict.usage)
            probe["trials"] += 1
            probe["flips"] += verdict.success
        return probe

    def _rollouts(self) -> Rollouts:
        """Where the next run is made, within what is left of the budgets. Raises RolloutError."""
        return self.services.rollouts_for(self.trajectory, self.state, self.context, self.total_usage)

    def _add_failed(self, step: TrajectoryStep, why: str) -> None:
        self.probes.append(Probe(step=step.number, flips=0, trials=0, reasoning=why))

    async def _ask(self, messages: Sequence[Message], reply: type[R]) -> R:
        self._check_budget()
        self.runtime.stream_writer({"event": "thinking", "role": "probe"})
        try:
            asked = await self.services.ask(self.context, "probe", messages, reply)
        except ReplyError as error:
            self._book("probe", error.usage)
            raise
        self._book("probe", asked.usage)
        return asked.reply

    def _book(self, role: str, usage: Usage) -> None:
        self.usage[role] = total(self.usage.get(role, no_usage()), usage)

    def _check_budget(self) -> None:
        if why := exhausted(self.state, self.context, self.total_usage):
            raise SearchStopped(f"{why}, after {len(self.probes)} probes: raise it")


async def brute_force(prober: Prober) -> FoundStep | None:
    """The first step, from the beginning on, whose correction turns the run: one probe a step until then."""
    for step in prober.trajectory.steps:
        if await _is_saved(prober, step, "alone"):
            how = (
                "the run with a corrected action succeeded"
                if prober.can_run()
                else "a correction was judged to save it"
            )
            return step.number, f"Each step was tried in turn, and {how} first at step {step.number}."
    return None


async def binary_search(prober: Prober) -> FoundStep | None:
    """The last step at which the run could still be saved, found by halving: O(log n) probes."""
    steps = prober.trajectory.steps
    low, high = 0, len(steps)  # all before `low` can be saved at, none from `high` on
    while low < high:
        middle = (low + high) // 2
        if await _is_saved(prober, steps[middle], "still"):
            low = middle + 1
        else:
            high = middle
    if not low:
        return None
    number = steps[low - 1].number
    return number, f"The run was halved again and again: up to step {number} it could still be saved."


async def _is_saved(prober: Prober, step: TrajectoryStep, question: Question) -> bool:
    if not prober.can_run():
        return await prober.judge_salvage(step, question)
    substitution = await prober.correct(step)
    if substitution is None or (question == "alone" and prober.is_unchanged(step, substitution)):
        return False
    probe = await prober.run_on(step, substitution.action, 1, control=False)
    return probe is not None and probe["flips"] > 0


async def counterfactual(prober: Prober) -> FoundStep | None:
    """The earliest step whose correction flips the end at a rate of `flip_rate` or more, not by chance."""
    if not prober.can_run():
        raise SearchStopped("counterfactual mode needs a place to run in and somebody who judges")
    reached = False
    for step in prober.trajectory.steps:
        corrected = await _run_corrected(prober, step)
        reached = reached or corrected is not None
        if corrected is None or corrected["rate"] < prober.context.flip_rate:
            continue
        if await prober.run_on(step, step.action, prober.context.trials, control=True) is None:
            raise SearchStopped(prober.notes[-1])
        by_chance = _add_rate(prober, "")
        if by_chance["rate"] < prober.context.flip_rate:
            return step.number, (
                f"Its action was replaced by: {corrected['substitution']!r}. The run then succeeded "
                f"{corrected['flips']} of {corrected['trials']} times, and {by_chance['flips']} of "
                f"{by_chance['trials']} times with its own action. No earlier step's correction did that."
            )
        prober.notes.append(
            f"step {step.number}: the run succeeds about as often without a correction; chance decided it"
        )
    if not reached:
        raise SearchStopped("no step could be run again: see the notes")
    return None


async def _run_corrected(prober: Prober, step: TrajectoryStep) -> Probe | None:
    """The step with a corrected action; None where it could not be run."""
    substitution = await prober.correct(step)
    if substitution is None:
        return None
    if prober.is_unchanged(step, substitution):
        return prober.probes[-1]
    if await prober.run_on(step, substitution.action, prober.context.trials, control=False) is None:
        return None
    return _add_rate(prober, substitution.thought)


def _add_rate(prober: Prober, reasoning: str) -> Probe:
    """The last probe with its rate, interval and reasoning."""
    probe = prober.probes[-1]
    low, high = wilson(probe["flips"], probe["trials"])
    rate = probe["flips"] / probe["trials"] if probe["trials"] else 0.0
    prober.probes[-1] = {**probe, "rate": rate, "low": low, "high": high, "reasoning": reasoning}
    return prober.probes[-1]


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % confidence interval of a rate (Wilson's score interval); (0, 1) where nothing was tried."""
    if not trials:
        return 0.0, 1.0
    rate, z2 = successes / trials, Z95**2
    centre = (rate + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z95 * sqrt(rate * (1 - rate) / trials + z2 / (4 * trials**2)) / (1 + z2 / trials)
    return max(centre - half, 0.0), min(centre + half, 1.0)


SEARCHES: dict[str, Callable[[Prober], Awaitable[FoundStep | None]]] = {
    "brute_force": brute_force,
    "binary_search": binary_search,
    "counterfactual": counterfactual,
}
