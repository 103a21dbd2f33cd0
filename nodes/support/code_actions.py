"""Code actions (PreFlect): the calls that a program of the python tool makes, each a recorded sub-step.

A program may only call what reads (`tools.sandbox.calls.from_code`), under the rules that hold for the agent
itself: arguments are checked, time and text are limited, secrets are taken out, and a call that failed in the
task is not made again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from forethought.nodes.support.inspection import ENOUGH, Inspection, beyond
from forethought.nodes.support.repeats import earlier_failure
from forethought.state.agent import AgentState
from forethought.tools.base import Observation, Tool, ToolEnv
from forethought.tools.call import call_tool
from forethought.tools.sandbox.calls import MAX_CALLS, from_code

Json = dict[str, Any]
RECORDED_CHARACTERS = 2000
"""How much of an observation a sub-step keeps: the program had it whole, and shows what matters."""


class CodeActions:
    """The calls of one program, at step `n`."""

    def __init__(
        self, tools: Mapping[str, Tool], env: ToolEnv, state: AgentState, n: int, inspection: Inspection
    ) -> None:
        self.sub_steps: list[Json] = []
        """{tool, arguments, ok, cause, observation (its head), origin, seconds} of each call, in order."""
        self._tools = from_code(tools)
        self._env, self._state, self._n = replace(env, ask=None), state, n
        self._inspection = inspection

    @property
    def env(self) -> ToolEnv:
        """The run's environment with these calls in it."""
        return replace(self._env, call=self, offered=self._tools)

    async def __call__(self, name: str, arguments: Json) -> Observation:
        """Make a call; whatever goes wrong is an observation."""
        tool = self._tools.get(name)
        if tool is None:
            said = f"a program cannot call {name!r}"
            hint = f"it can call {', '.join(self._tools)}"
            return Observation(said, ok=False, cause="arguments", hint=hint, origin="model")
        if len(self.sub_steps) >= MAX_CALLS:
            said, hint = f"a program may make at most {MAX_CALLS} calls", "go on in another program"
            return Observation(said, ok=False, cause="limit", hint=hint, origin="model")
        over = self._inspection.allowance.spent()
        if over == "seconds" or (over and self._inspection.paid):
            # Reading costs only time, unless a tool pays by itself; what asks a model is refused there.
            return Observation(beyond(over), ok=False, cause="limit", hint=ENOUGH, origin="model")
        started = time.monotonic()
        failure = earlier_failure(tool, arguments, self._state, self.sub_steps, self._n)
        observation = failure.refusal(tool) if failure else await call_tool(tool, arguments, self._env)
        if self._inspection.missing:
            raise self._inspection.missing
        self._record(tool, arguments, observation, time.monotonic() - started)
        return observation

    def _record(self, tool: Tool, arguments: Json, observation: Observation, seconds: float) -> None:
        text = observation.text + (f"\nHint: {observation.hint}" if observation.hint else "")
        self.sub_steps.append(
            {
                "tool": tool.name,
                "arguments": arguments,
                "ok": observation.ok,
                "cause": observation.cause,
                "observation": text[:RECORDED_CHARACTERS],
                "origin": observation.origin,
                "seconds": round(seconds, 3),
            }
        )
