"""What one debugging may cost: its tokens and dollars, re-runs included."""

from __future__ import annotations

from forethought.models.allowance import tokens_of, total
from forethought.models.tokens import estimate_tokens
from forethought.models.types import Usage
from forethought.nodes.debugger.messages import PROMPT_CHARS
from forethought.state.bounds import exhausted
from forethought.state.debugger_context import DebuggerContext
from forethought.state.debugger_state import DebuggerState
from forethought.trajectories.types import Trajectory

_FIXED_TOKENS = 6_000
"""A prompt's rules and taxonomy, and a thinking model's reply, roughly."""


def remaining(state: DebuggerState, context: DebuggerContext, now: Usage | None = None) -> DebuggerContext:
    """`context` with what is left of its budgets: what a single re-run may cost."""
    spent = total(*state.get("usage", {}).values(), now or {})
    left: dict[str, float] = {}
    if context.max_tokens is not None:
        left["max_tokens"] = max(context.max_tokens - tokens_of(spent), 1)
    if context.max_usd is not None:
        left["max_usd"] = max(context.max_usd - spent["usd"], 0.0)
    return context.model_copy(update=left)


def reserve_tokens(trajectory: Trajectory, context: DebuggerContext) -> int:
    """Tokens that stage 1 leaves for stage 2: one prompt with the run in it, and its reply. No more than a
    quarter of the budget."""
    limit = context.max_observation_chars
    shown = "".join(
        text[:limit]
        for step in trajectory.steps
        for text in (step.given, step.memory, step.reflection, step.planning, step.action, step.observation)
    )
    wanted = _FIXED_TOKENS + estimate_tokens(shown[:PROMPT_CHARS])
    return wanted if context.max_tokens is None else min(wanted, context.max_tokens // 4)


def width(state: DebuggerState, context: DebuggerContext, labelled: int, reserve: int) -> int:
    """How many steps the next wave may label: never more than the tokens that are left allow."""
    if exhausted(state, context, reserve=reserve):
        return 0
    if context.max_tokens is None or not labelled:
        return context.max_parallel
    each = max(tokens_of(state.get("usage", {}).get("label", {})) // labelled, 1)
    left = context.max_tokens - tokens_of(total(*state.get("usage", {}).values())) - reserve
    return max(min(context.max_parallel, left // each), 0)
