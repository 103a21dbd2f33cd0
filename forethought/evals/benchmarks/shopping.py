"""What WebShop and the small shop have in common as benchmarks: options, tasks and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from forethought.evals.types import Attempt, InfrastructureError, Sample, Score, Services
from forethought.tools.base import Tool

RENDERINGS = ("rich", "text")
MAX_STEPS = 100
OPTIONS = {
    "observation": "rich (lines, default) or text (WebShop's text mode, parts separated by [SEP])",
    "max_steps": f"actions that a session lasts at most (default {MAX_STEPS}, as in WebShop's own agents)",
}


def task_of(instruction: str) -> str:
    """What the agent is asked."""
    return (
        "You are in a web shop. Find the product that fits this instruction, choose the options that it asks "
        f"for, and buy it: {instruction}"
    )


class Shopping:
    """Scoring by the reward of the purchase; a session without one gets 0."""

    main_metric: ClassVar[str] = "reward"
    builtin_tools: ClassVar[Sequence[str]] = ()
    steps: ClassVar[int] = 100

    def tools(self, sample: Sample, services: Services) -> Sequence[Tool]:
        """None: a shop takes text."""
        return ()

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """The reward, and success where it is whole (Yao et al. 2022, section 2.2)."""
        if attempt.reward is None:
            raise InfrastructureError("the shop gave no reward")
        values = {"reward": attempt.reward, "success": float(attempt.reward == 1.0)}
        return Score(values, "" if attempt.reward else "Nothing was bought, or nothing of the right kind.")

    def summary(self, scored: Sequence[tuple[Sample, Sequence[Score]]]) -> Mapping[str, float]:
        """Nothing but means."""
        return {}

    def floor(self, sample: Sample) -> float | None:
        """Who buys nothing earns nothing."""
        return 0.0
