"""The two arms of an audit: our agent continues from a skip, with the mechanism forced on or left out.

The arms differ in one decision: in the forced one, the switch of the skipped mechanism is on while the node
that skipped it runs. A reflector that waits for readings runs after them. Then the rules decide again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from forethought.evals.actions import call_text
from forethought.evals.audit.skips import SkippedAt
from forethought.evals.methods.ours import GraphRun, Ours
from forethought.evals.toolset import Toolset
from forethought.evals.types import TrialContext
from forethought.state.context import Context
from forethought.storage.sqlite import SqliteThreads

CONTROL, FORCED = "control", "forced"


@dataclass
class Fork(Ours):
    """One arm: runs that continue from a skip."""

    forced: bool = False
    skips: Mapping[str, SkippedAt] = field(default_factory=dict)
    """By the id of the audit's sample."""

    async def _begin(self, trial: TrialContext, run: GraphRun) -> Any:
        skip = self.skips[trial.sample.id]
        threads = cast(SqliteThreads, trial.checkpointer)
        await threads.take_over(skip.thread, skip.checkpoint, trial.thread)
        state = (await run.graph.aget_state(run.config)).values
        await _replay(trial.tools, state.get("trajectory") or [])
        if self.forced:
            run.first = run.context.model_copy(update={skip.rule.mechanism: True})
        return None

    def context(self, trial: TrialContext) -> Context:
        """The Context of the audited method; rules skip with effort auto alone."""
        return self.skips[trial.sample.id].method.context(trial).model_copy(update={"effort": "auto"})


async def _replay(tools: Toolset, steps: list[dict[str, Any]]) -> None:
    """Carry the kept steps out again in the sample's world. Raises InfrastructureError."""
    await tools.begin()
    for step in sorted(steps, key=lambda step: step["n"]):
        if step["ok"] and step["tool"] in tools.of_episode:
            arguments = step["arguments"]
            action = arguments["action"] if tools.acts_in_text else call_text(step["tool"], arguments)
            await tools.step(action)


def arms(skips: Mapping[str, SkippedAt]) -> tuple[Fork, Fork]:
    """The control and the forced arm."""
    return (
        Fork(CONTROL, "continues from a skip as the rules have it", skips=skips),
        Fork(FORCED, "continues from a skip with the mechanism on", forced=True, skips=skips),
    )
