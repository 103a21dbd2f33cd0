"""The calls of a worker of another framework, as the steps that the nodes read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forethought.state.agent import Step
from forethought.trajectories.tool_errors import error_text
from forethought.trajectories.types import TrajectoryStep

Json = dict[str, Any]


@dataclass(frozen=True)
class WorkerCall:
    """A tool call that the worker made."""

    wave: int
    """Number of the turn, from 1; calls of one turn share it."""
    tool: str
    arguments: Json
    observation: str
    failed: bool = False
    """Whether the framework reports a failure; otherwise the text decides."""
    thought: str = ""


def steps_of(calls: Sequence[WorkerCall], planned_at: Sequence[int]) -> list[Step]:
    """The calls by number. The work under each plan is one subtask, in which what fails, or brings the
    same as before, adds up."""
    steps: list[Step] = []
    for n, call in enumerate(calls, 1):
        words = error_text(TrajectoryStep(number=n, observation=call.observation))
        cause = "tool" if call.failed or words else ""
        before = [step for step in steps if step["wave"] < call.wave]
        same = [step for step in before if (step["tool"], step["arguments"]) == (call.tool, call.arguments)]
        if cause and not all(step["ok"] for step in same):
            cause = "repeat"
        elif any(step["observation"] == call.observation for step in same):
            cause = "empty"
        subtask = f"work_{max(bisect_left(planned_at, n), 1)}"
        steps.append(_step(n, call, subtask, cause))
    return steps


def _step(n: int, call: WorkerCall, subtask: str, cause: str) -> Step:
    step: Any = {"n": n, "task": 1, "round": 1, "plan_version": 0, "wave": call.wave, "subtask": subtask}
    step |= {"action": "call", "thought": call.thought, "tool": call.tool, "arguments": call.arguments}
    step |= {"observation": call.observation, "origin": f"tool:{call.tool}", "surprise": "none"}
    step |= {"ok": not cause, "finished": not cause, "cause": cause, "expected": "", "evaluation": ""}
    made: Step = step | {"score": 0, "sub_steps": [], "shown": [], "seconds": 0.0, "usage": {}}
    return made
