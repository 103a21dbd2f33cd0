"""Re-rollouts in an environment: reset, replay the prefix, then let a policy run on (AgentDebug 3.2, 4.2).

The prefix is carried out again, since an environment has no checkpoints; each observation is compared with
the recorded one, and a difference is reported with the re-run.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langgraph.errors import GraphBubbleUp

from forethought.models.allowance import charged_tokens, total
from forethought.models.types import ReplyError, Usage, no_usage
from forethought.rollouts.types import (
    Act,
    Continuation,
    Environment,
    EnvironmentReply,
    Policy,
    Replay,
    RolloutError,
)
from forethought.text import one_line
from forethought.trajectories.types import Failure, Module, Trajectory, TrajectoryStep

_HANDED_IN = re.compile(r"\s*(?:finish\s*\[(.*)\]|answer:(.*))\s*", re.IGNORECASE | re.DOTALL)
"""An action that submits an answer, as the trajectory readers write it."""
_SHOWN = 160


def handed_in(action: str) -> str | None:
    """The answer that `action` hands in; None where it does something else."""
    found = _HANDED_IN.fullmatch(action)
    return (found[1] or found[2] or "").strip() if found else None


@dataclass
class _Run:
    """A run as it grows."""

    steps: list[TrajectoryStep]
    reply: EnvironmentReply
    usage: Usage = field(default_factory=no_usage)
    status: str = ""

    def add(self, act: Act, reply: EnvironmentReply, failure: Failure = "") -> None:
        """One more step: what was done, and what the environment answered. A `failure` ends the run."""
        possible = "; ".join(self.reply.admissible)
        step = TrajectoryStep(
            number=self.steps[-1].number + 1 if self.steps else 1,
            given=f"Possible actions: {possible}" if possible else "",
            memory=act.memory,
            reflection=act.reflection,
            planning=act.planning,
            action=act.action,
            observation=reply.observation,
            failure=failure,
        )
        self.steps.append(step)
        self.usage, self.reply = total(self.usage, act.usage, reply.usage), reply
        self.status = "failed" if failure else "done" if reply.done else ""

    def answer(self) -> str:
        """What the last action handed in, if the run is over and it did."""
        return (handed_in(self.steps[-1].action) or "") if self.reply.done and self.steps else ""


@dataclass
class EnvironmentRollouts:
    """Runs `trajectory` again in `environment`, where `policy` acts: one re-run at a time.

    `max_steps` bounds the whole trajectory, kept steps included; `max_tokens` and `max_usd` bound each
    re-run: none goes on once they are spent.
    """

    environment: Environment
    policy: Policy
    trajectory: Trajectory
    max_steps: int = 50
    max_tokens: int | None = None
    max_usd: float | None = None
    verdict: Callable[[Continuation], Awaitable[float]] | None = None
    """The value of a finished run, unless the environment's reward gives it."""
    _attempts: int = 0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def from_step(self, step: int, module: Module, guidance: Sequence[str]) -> Continuation:
        """Replay up to `step`, and let the policy run on from there. A plan is made anew in every step, so
        that a planning error needs no earlier one."""
        return await self._continue(self._before(step), guidance)

    async def substituted(self, step: int, action: str, tool: str, arguments: dict[str, Any]) -> Continuation:
        """Replay up to `step`, carry out `action` instead of its own, and let the policy run on.

        Tool and arguments say nothing to an environment, whose actions are text.
        """
        prefix = self._before(step)
        if not action.strip():
            raise RolloutError(f"step {step}: an environment needs the corrected action as text")
        return await self._continue(prefix, (), Act(action.strip()))

    async def from_start(self, guidance: Sequence[str]) -> Continuation:
        """Reset, and let the policy run."""
        return await self._continue((), guidance)

    async def restore(self) -> None:
        """Nothing: an environment is reset for each re-run, and keeps no branch."""

    def _before(self, step: int) -> tuple[TrajectoryStep, ...]:
        numbers = [item.number for item in self.trajectory.steps]
        if step not in numbers:
            raise RolloutError(f"there is no step {step}; choose from {numbers[0]} to {numbers[-1]}")
        return self.trajectory.steps[: numbers.index(step)]

    async def _continue(
        self, prefix: Sequence[TrajectoryStep], guidance: Sequence[str], first: Act | None = None
    ) -> Continuation:
        async with self._lock:
            self._attempts += 1
            started = time.monotonic()
            replay: Replay = await replay_prefix(self.environment, prefix)
            run = _Run(list(prefix), replay.reply, replay.usage, "done" if replay.reply.done else "")
            if first is not None and not run.status:
                await self._carry_out(run, first)
            while not run.status:
                await self._advance(run, guidance)
            origin = self.trajectory.origin()
            ended = {"steps": tuple(run.steps), "answer": run.answer(), "halted": run.status == "halted"}
            continuation = Continuation(
                branch=f"attempt-{self._attempts}",
                trajectory=Trajectory.model_validate({**origin, **ended}),
                kept=len(prefix),
                reward=run.reply.reward,
                diverged=replay.diverged,
                status=run.status,
                usage=run.usage,
                seconds=time.monotonic() - started,
            )
            if self.verdict is None:
                return continuation
            return replace(continuation, reward=await self.verdict(continuation))

    async def _advance(self, run: _Run, guidance: Sequence[str]) -> None:
        """One more step, or the end for want of steps, budget or a usable reply."""
        if len(run.steps) >= self.max_steps:
            run.status = "halted"
        elif self._is_spent(run.usage):
            run.status = "budget_exhausted"
        else:
            try:
                act = await self.policy.act(self.environment.task, run.steps, run.reply, guidance)
            except ReplyError as error:
                text = f"The model gave no usable reply: {error.problem or error}"
                act, ended = Act("", usage=error.usage), EnvironmentReply(text, reward=run.reply.reward)
                run.add(act, ended, "llm_limit")
            else:
                await self._carry_out(run, act)

    async def _carry_out(self, run: _Run, act: Act) -> None:
        try:
            run.add(act, await take_step(self.environment, act.action))
        except RolloutError as error:
            run.add(act, EnvironmentReply(str(error), reward=run.reply.reward), "environment_error")

    def _is_spent(self, usage: Usage) -> bool:
        tokens = charged_tokens(usage)
        return (self.max_tokens is not None and tokens >= self.max_tokens) or (
            self.max_usd is not None and usage["usd"] >= self.max_usd
        )


async def replay_prefix(environment: Environment, prefix: Sequence[TrajectoryStep]) -> Replay:
    """`environment` reset and brought to where `prefix` ends; what came out differently is said, and the rest
    of the prefix is carried out all the same. A step without an action did nothing there. Raises RolloutError
    when the environment breaks."""
    reply = await _guarded(environment, environment.reset, "on reset")
    diverged, usage = "", reply.usage
    for step in prefix:
        if not step.action:
            continue
        reply = await take_step(environment, step.action)
        usage = total(usage, reply.usage)
        if not diverged and one_line(reply.observation) != one_line(step.observation):
            diverged = (
                f"at step {step.number} the replay saw {one_line(reply.observation, _SHOWN)!r} "
                f"where the recorded run saw {one_line(step.observation, _SHOWN)!r}"
            )
        if reply.done and step is not prefix[-1]:
            diverged = (
                diverged or f"the replay ended at step {step.number}, before the end of the recorded steps"
            )
            break
    return Replay(reply, diverged, usage)


async def take_step(environment: Environment, action: str) -> EnvironmentReply:
    """What `environment` answers to `action`. Raises RolloutError when it breaks."""
    when = f"at {one_line(action, _SHOWN)!r}"
    return await _guarded(environment, lambda: environment.step(action), when)


async def _guarded(
    environment: Environment, ask: Callable[[], Awaitable[EnvironmentReply]], when: str
) -> EnvironmentReply:
    """An environment is the caller's own code: whatever it raises becomes a line that names it, but
    what LangGraph itself raises."""
    try:
        reply = await ask()
    except GraphBubbleUp:  # the graph around it is to stop
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {one_line(str(error), _SHOWN)}".rstrip(": ")
        raise RolloutError(
            f"the environment {environment.name} failed {when} ({what}): fix its code"
        ) from error
    if not isinstance(reply, EnvironmentReply):
        kind = type(reply).__name__
        raise RolloutError(
            f"the environment {environment.name} returned a {kind} {when}: return an EnvironmentReply"
        )
    return reply
