"""A call (tool and arguments) that failed in this task is never made a second time, whether the agent asks
for it or a program of the agent's (MIRROR's published code sends failed calls again)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from forethought.nodes.support.prompt_text import compact, never_begun, trajectory
from forethought.state.agent import AgentState
from forethought.text import cut
from forethought.tools.base import Observation, Tool
from forethought.tools.call import normalise

Json = dict[str, Any]


@dataclass(frozen=True)
class Failure:
    """An earlier call that failed, at step `n` or within it."""

    n: int
    cause: str
    observation: str

    def refusal(self, tool: Tool) -> Observation:
        """What the agent sees instead of the same failure again."""
        text = (
            f"Not called: the same call failed at step {self.n} ({self.cause}): {cut(self.observation, 800)}"
        )
        return Observation(text, ok=False, cause="repeat", origin=f"tool:{tool.name}")


def earlier_failure(
    tool: Tool, arguments: Json, state: AgentState, now: Iterable[Json] = (), n: int = 0
) -> Failure | None:
    """The earlier failure of this call in the task, in the sub-steps `now` of the current step `n` too.

    Transport failures of tools that may be called again do not count; one that writes is none of them, since
    such a failure may have taken effect.
    """
    same = compact(normalise(tool, arguments))
    for at, call in chain(_calls(state), ((n, item) for item in now)):
        if call["ok"] or call["tool"] != tool.name or call["cause"] == "repeat":
            continue
        if tool.retryable and tool.repeatable and call["cause"] in ("transport", "timeout"):
            continue
        if compact(normalise(tool, call["arguments"])) == same:
            return Failure(at, call["cause"], call["observation"])
    return None


def _calls(state: AgentState) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for step in trajectory(state):
        if step["action"] == "call" and not never_begun(step):
            yield step["n"], step
        for sub_step in step["sub_steps"]:
            yield step["n"], sub_step
