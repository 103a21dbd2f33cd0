"""Driving the compiled debugger in a test: a trajectory, replies scripted by kind, and what was seen.

out = await debug(trajectory(3), Reader({2: {"planning": "constraint_ignorance"}}))
assert out["critical"]["critical_step"] == 2
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from forethought.graph.debugger import build_debugger
from forethought.rollouts.environment import EnvironmentRollouts
from forethought.rollouts.types import Continuation, Environment, Policy, RolloutError
from forethought.settings import Settings
from forethought.state.debugger import DebuggerContext
from forethought.trajectories.types import Module, Trajectory, TrajectoryStep
from tests.support.graph_run import GraphRun
from tests.support.model_server import Answer, Fault, ModelServer, SeenRequest

Json = dict[str, Any]
MODULES = ("memory", "reflection", "planning", "action", "system")
GOLD = "the gold answer zebra"
_STEP = re.compile(r"Examine step (\d+)|at step (\d+)\?|that step (\d+) should|critical_step is (\d+)")


def trajectory(count: int, **options: Any) -> Trajectory:
    """A failed run of `count` steps, each with words of its own."""
    changes: Mapping[int, Json] = options.pop("changes", {})
    steps = tuple(
        TrajectoryStep.model_validate(
            {
                "number": number,
                "memory": f"recalled fact number {number}" if number > 1 else "",
                "reflection": f"judged result number {number}" if number > 1 else "",
                "planning": f"intend to open drawer number {number}",
                "action": f"open drawer {number}",
                "observation": f"drawer {number} holds nothing of use",
                **changes.get(number, {}),
            }
        )
        for number in range(1, count + 1)
    )
    given = {"id": "run", "task": "Find the brass key.", "answer": "no key", **options}
    return Trajectory.model_validate({**given, "steps": steps})


def asked_step(seen: SeenRequest) -> int:
    """The step that a request is about."""
    found = _STEP.findall(seen.messages[1][1])
    assert found, "the request names no step"
    return int(next(filter(None, found[-1])))


def label(error_type: str = "no_error", evidence: str = "") -> Json:
    """A module's label."""
    return {"evidence": evidence, "reasoning": "so it is", "error_type": error_type}


def labels(number: int, **errors: str) -> Json:
    """A step's labels: the named modules err, with words of the step as evidence."""
    words = {
        "memory": f"recalled fact number {number}",
        "reflection": f"judged result number {number}",
        "planning": f"open drawer number {number}",
        "action": f"open drawer {number}",
        "system": f"drawer {number} holds nothing",
    }
    return {name: label(errors[name], words[name]) if name in errors else label() for name in MODULES}


def critical(
    step: int, module: str = "planning", error_type: str = "constraint_ignorance", **more: Any
) -> Json:
    """A critical error in a step of `trajectory`."""
    found = {
        "cascading_effects": [],
        "root_cause": "the wrong drawer was chosen",
        "evidence": f"open drawer number {step}",
        "critical_step": step,
        "critical_module": module,
        "error_type": error_type,
        "correction_guidance": "Look on the shelf first.",
    }
    return {**found, **more}


@dataclass
class Reader:
    """The model of a test: errors by step and module for labels, and other replies by their kind, in turn
    (the last for ever) or as a function of the request."""

    errors: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    replies: Mapping[str, Sequence[Answer] | Callable[[SeenRequest], Answer]] = field(default_factory=dict)
    _given: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, seen: SeenRequest) -> Answer:
        """The reply to a request."""
        kind = seen.reply_name
        found = self.replies.get(kind)
        if callable(found):
            return found(seen)
        if found is not None:
            with self._lock:
                at = self._given.get(kind, 0)
                self._given[kind] = at + 1
            return found[min(at, len(found) - 1)]
        if kind == "StepLabels":
            number = asked_step(seen)
            return labels(number, **self.errors.get(number, {}))
        if kind == "Triage":
            return {"suspects": [{"reason": "it may be", "step": number} for number in self.errors or [1]]}
        if kind == "CriticalError":
            known = "critical_step is" in seen.messages[1][1]
            return critical(asked_step(seen) if known else min(self.errors, default=1))
        if kind == "Substitution":
            return {"thought": "better", "action": f"corrected {asked_step(seen)}"}
        return Fault("400", message=f"no reply scripted for {kind}")


@dataclass
class TruthfulWorld:
    """Re-runs whose truth is known: with the actions of `turning` replaced, the run succeeds."""

    subject: Trajectory
    turning: Mapping[int, Sequence[bool]]
    """Outcomes by step, in turn (the last for ever); a step that is not there never succeeds."""
    by_chance: Mapping[int, Sequence[bool]] = field(default_factory=dict)
    """Outcomes with the step's own action."""
    diverging: Sequence[int] = ()
    gone: Sequence[int] = ()
    calls: list[tuple[int, str]] = field(default_factory=list)
    restored: int = 0

    async def substituted(self, step: int, action: str, tool: str, arguments: Json) -> Continuation:
        """See `Rollouts`."""
        if step in self.gone:
            raise RolloutError(f"the checkpoint before step {step} is gone")
        self.calls.append((step, action))
        own = action == self.subject.step(step).action
        outcomes = (self.by_chance if own else self.turning).get(step, [False])
        at = sum(1 for call in self.calls if call == (step, action)) - 1
        good = outcomes[min(at, len(outcomes) - 1)]
        return self._continue(step, good, "at step 1 it came out otherwise" if step in self.diverging else "")

    async def from_step(self, step: int, module: Module, guidance: Sequence[str]) -> Continuation:
        """See `Rollouts`: with guidance it turns as it does with a correction."""
        self.calls.append((step, "|".join(guidance)))
        outcomes = self.turning.get(step, [False])
        return self._continue(step, outcomes[min(len(self.calls) - 1, len(outcomes) - 1)], "")

    async def from_start(self, guidance: Sequence[str]) -> Continuation:
        """See `Rollouts`."""
        return self._continue(1, False, "")

    async def restore(self) -> None:
        """See `Rollouts`."""
        self.restored += 1

    def _continue(self, step: int, good: bool, diverged: str) -> Continuation:
        run = self.subject.model_copy(update={"answer": GOLD if good else "still no key"})
        return Continuation(branch=f"b{len(self.calls)}", trajectory=run, kept=step - 1, diverged=diverged)


async def record_run(
    environment: Environment, policy: Policy, max_steps: int = 50, guidance: Sequence[str] = ()
) -> Continuation:
    """A first run of `environment` with `policy`: what there is to debug when it fails."""
    blank = Trajectory(id=environment.name, task=environment.task, environment=environment.name, source="run")
    continuation = await EnvironmentRollouts(environment, policy, blank, max_steps).from_start(guidance)
    return replace(continuation, branch="original")


class Debugging(GraphRun):
    """A debugger under test, and the state that it ended with."""

    def __getitem__(self, channel: str) -> Any:
        return self.state[channel]

    @property
    def kinds(self) -> list[str]:
        """Reply types asked for, in order."""
        return self.server.names


Debug = Callable[..., Any]


@pytest.fixture
def debug(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Debug:
    """Debug a trajectory (or any input) with a scripted model."""

    async def start(
        subject: Trajectory | Json, reader: Callable[[SeenRequest], Answer] | None = None, **options: Any
    ) -> Any:
        server = model_server(reader or Reader())
        parts = {
            name: options.pop(name) for name in ("load_thread", "rollouts", "environment") if name in options
        }
        saver = options.pop("checkpointer", None) or InMemorySaver()
        expect = options.pop("expect", "")
        made = settings(server, request_retries=0)
        graph: Any = build_debugger(made, saver, **parts)
        given = {"trajectory": subject.model_dump()} if isinstance(subject, Trajectory) else dict(subject)
        if expect:
            given["expect"] = expect
        return await Debugging(graph, server, DebuggerContext.model_validate(options)).go(given)

    return start
