"""One step put to the test: its action replaced and the run made on, or a model's judgement of that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from langgraph.runtime import Runtime

from forethought.models.allowance import total
from forethought.models.types import Message, ReplyError, ReplySpec, T, Usage, no_usage, reply_spec
from forethought.nodes.debugger.budget import exhausted, remaining
from forethought.nodes.debugger.messages import salvage_messages, substitution_messages
from forethought.nodes.debugger.services import DebugServices, verdict_on
from forethought.prompts.debug_replies import Salvage, Substitution
from forethought.rollouts.types import Evaluator, RolloutError, Rollouts
from forethought.state.debugger import DebuggerContext, DebuggerState, Probe
from forethought.trajectories.types import Trajectory, TrajectoryStep

Question = Literal["alone", "still"]


class Stopped(RuntimeError):
    """A search that could not go on, and why, in one line."""


@dataclass
class Searched:
    """What a search has tried, and what it cost, by role."""

    probes: list[Probe] = field(default_factory=list)
    usage: dict[str, Usage] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def total(self) -> Usage:
        """The sum over the roles."""
        return total(*self.usage.values())

    def book(self, role: str, usage: Usage) -> None:
        """Add to what was spent."""
        self.usage[role] = total(self.usage.get(role, no_usage()), usage)


@dataclass
class Trial:
    """The means of trying steps of one trajectory."""

    state: DebuggerState
    runtime: Runtime[DebuggerContext]
    trajectory: Trajectory
    context: DebuggerContext
    services: DebugServices
    searched: Searched
    _evaluator: Evaluator | None = None

    @property
    def can_run(self) -> bool:
        """Whether a step's action can really be replaced: there is a place to run this run in, and somebody
        who judges."""
        if self.services.rollouts is None:
            return False
        self._evaluator = self._evaluator or self.services.evaluator(
            self.context, self.state.get("accepted", [])
        )
        if self._evaluator is None:
            return False
        try:
            self._rollouts()
        except RolloutError:
            return False
        return True

    def _rollouts(self) -> Rollouts:
        """Where the next run is made, within what is left of the budgets. Raises RolloutError."""
        assert self.services.rollouts is not None
        left = remaining(self.state, self.context, self.searched.total)
        return self.services.rollouts(self.trajectory, self.state.get("thread") or None, left)

    async def corrected(self, step: TrajectoryStep) -> Substitution | None:
        """The action that the model would have taken; None, with a probe that says why, when no valid one
        came."""
        try:
            messages = substitution_messages(self.trajectory, step.number, self.context)
            return await self._ask(messages, reply_spec(Substitution))
        except ReplyError as error:
            self._unprobed(step, f"no valid substitution: {error.problem or error}")
            return None

    async def judged(self, step: TrajectoryStep, question: Question) -> bool:
        """The model's judgement of whether the run could have been saved at `step`."""
        try:
            messages = salvage_messages(self.trajectory, step.number, question, self.context)
            reply = await self._ask(messages, reply_spec(Salvage))
        except ReplyError as error:
            self._unprobed(step, f"no valid judgement: {error.problem or error}")
            return False
        self.searched.probes.append(
            Probe(step=step.number, flips=int(reply.saved), trials=0, reasoning=reply.reasoning)
        )
        return reply.saved

    async def runs(self, step: TrajectoryStep, action: str, times: int, *, control: bool) -> tuple[int, int]:
        """How many of `times` continuations with `action` in the place of the step's own succeeded, of how
        many that were faithful: a replay whose prefix came out otherwise proves nothing about this run.

        Raises RolloutError where the step cannot be run from, Stopped when the budget is spent, ModelError.
        """
        assert self._evaluator is not None
        flips = trials = 0
        diverged = ""
        tool, arguments = (step.tool, dict(step.arguments)) if control else ("", {})
        for _ in range(times):
            self._afford()
            rolled = await self._rollouts().substituted(step.number, action, tool, arguments)
            self.searched.book("rerun", rolled.usage)
            if rolled.diverged:
                diverged = diverged or rolled.diverged
                continue
            verdict = await verdict_on(self._evaluator, rolled)
            self.searched.book("judge", verdict.usage)
            trials += 1
            flips += verdict.success
        if diverged:
            self.searched.notes.append(
                f"step {step.number}: {times - trials} of {times} replays are not counted, since {diverged}"
            )
        self.searched.probes.append(
            Probe(
                step=step.number,
                substitution=action,
                control=control,
                flips=flips,
                trials=trials,
                diverged=diverged,
            )
        )
        return flips, trials

    def unchanged(self, step: TrajectoryStep, substitution: Substitution) -> bool:
        """Whether nothing was corrected; then that is the probe, since what comes of the same action again
        says nothing of the step."""
        if " ".join(substitution.action.split()) != " ".join(step.action.split()):
            return False
        probe = Probe(step=step.number, substitution=step.action, flips=0, trials=0, rate=0.0)
        self.searched.probes.append({**probe, "reasoning": substitution.thought})
        return True

    def refused(self, step: TrajectoryStep, error: RolloutError) -> None:
        """Record that a step could not be run from."""
        self._unprobed(step, str(error))
        note = f"step {step.number} could not be tried: {error}"
        self.searched.notes.append(note)

    def _unprobed(self, step: TrajectoryStep, why: str) -> None:
        self.searched.probes.append(Probe(step=step.number, flips=0, trials=0, reasoning=why))

    async def _ask(self, messages: list[Message], reply: ReplySpec[T]) -> T:
        self._afford()
        self.runtime.stream_writer({"event": "thinking", "role": "probe"})
        try:
            asked = await self.services.models.ask(
                role="probe", model=self.context.model, messages=messages, reply=reply
            )
        except ReplyError as error:
            self.searched.book("probe", error.usage)
            raise
        self.searched.book("probe", asked.usage)
        return asked.reply

    def _afford(self) -> None:
        if why := exhausted(self.state, self.context, self.searched.total):
            raise Stopped(f"{why}, after {len(self.searched.probes)} probes: raise it")
