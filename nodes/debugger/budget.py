"""What one debugging may cost: its tokens and dollars, re-runs included."""

from __future__ import annotations

from forethought.models.tokens import estimate_tokens
from forethought.models.types import Usage
from forethought.nodes.debugger.messages import PROMPT_CHARS
from forethought.state.debugger import DebuggerContext, DebuggerState
from forethought.trajectories.types import Trajectory

_FIXED_TOKENS = 6_000
"""A prompt's rules and taxonomy, and a thinking model's reply, roughly."""


def spent_tokens(state: DebuggerState, now: Usage | None = None) -> int:
    """Tokens of the debugging so far, with those of `now`, which the state does not know yet."""
    usages = [*state.get("usage", {}).values(), *([now] if now else [])]
    return sum(usage.get("input_tokens", 0) + usage.get("output_tokens", 0) for usage in usages)


def spent_usd(state: DebuggerState, now: Usage | None = None) -> float:
    """Dollars of the debugging so far, priced calls only."""
    usages = [*state.get("usage", {}).values(), *([now] if now else [])]
    return sum(usage.get("usd", 0.0) for usage in usages)


def exhausted(
    state: DebuggerState, context: DebuggerContext, now: Usage | None = None, reserve: int = 0
) -> str:
    """Which budget is spent, with `reserve` tokens kept back: '' or a clause such as 'the budget of 1000
    tokens is spent'."""
    if context.max_tokens is not None and spent_tokens(state, now) + reserve >= context.max_tokens:
        return f"the budget of {context.max_tokens} tokens is spent"
    if context.max_usd is not None and spent_usd(state, now) >= context.max_usd:
        return f"the budget of {context.max_usd:g} dollars is spent"
    return ""


def remaining(state: DebuggerState, context: DebuggerContext, now: Usage | None = None) -> DebuggerContext:
    """`context` with what is left of its budgets: what a single re-run may cost."""
    left: dict[str, float] = {}
    if context.max_tokens is not None:
        left["max_tokens"] = max(context.max_tokens - spent_tokens(state, now), 1)
    if context.max_usd is not None:
        left["max_usd"] = max(context.max_usd - spent_usd(state, now), 0.0)
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
    used = state.get("usage", {}).get("label", {})
    each = max((used.get("input_tokens", 0) + used.get("output_tokens", 0)) // labelled, 1)
    left = context.max_tokens - spent_tokens(state) - reserve
    return max(min(context.max_parallel, left // each), 0)
