"""Budgets of a task: what is used, what is left, and what is kept back so that an answer can be written."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from forethought.models.allowance import Allowance, charged_tokens
from forethought.models.types import Usage
from forethought.nodes.support.prompt_text import trajectory
from forethought.sizes import ANSWER_TOKENS, BYTES_PER_TOKEN, extent
from forethought.state.agent import AgentState, Step
from forethought.state.context import Context
from forethought.state.cost import IN_WAVES
from forethought.state.steps import is_call

_FIRST_STEP_TOKENS = 3_000
"""What a step is taken to cost at least before one was seen; else as much as a call of the task so far."""
_ANSWER_SHARE = 0.1
_SCARCE = 0.8
"""Once so much of a budget is used, a worker is told what is left."""
_ROUNDING = 1e-9
"""What sums of dollars may be off by."""


@dataclass(frozen=True)
class Spent:
    """What the task has used so far."""

    moves: int
    """Moves that were sent."""
    calls: int
    """Those of them that called a tool; one that is still under way counts as a call."""
    tokens: int
    usd: float


def spent(state: AgentState, now: Usage | None = None) -> Spent:
    """Sums over the task, with `now`, which the state does not hold yet. Its seconds are apart: they take a
    walk through all steps."""
    usages, progress = [*state.get("usage", {}).values(), now or {}], state.get("progress", {})
    moves = progress.get("n", 0) - progress.get("base_n", 0)
    calls = moves - sum(not is_call(step) for step in _steps(state))
    return Spent(
        moves, calls, sum(map(charged_tokens, usages)), sum(usage.get("usd", 0.0) for usage in usages)
    )


def _steps(state: AgentState) -> list[Step]:
    """The steps of the present task, in any order."""
    task = state.get("progress", {}).get("task", 1)
    return [step for step in state.get("trajectory", []) if step["task"] == task]


def active_seconds(state: AgentState) -> float:
    """Seconds that the task took: subtasks side by side count once, waiting for a person not at all."""
    waves: dict[int, float] = {}
    for step in _steps(state):
        waves[step["wave"]] = max(waves.get(step["wave"], 0.0), step["seconds"])
    usage = state.get("usage", {})
    alone = sum(spent.get("seconds", 0.0) for key, spent in usage.items() if key not in IN_WAVES)
    return alone + sum(waves.values())


def reserve_tokens(state: AgentState, context: Context) -> int:
    """Tokens kept back for the answer: a share of the budget, or more where the steps seen are long."""
    return _reserve(_seen_tokens(state, context), context)


def _reserve(seen_tokens: int, context: Context) -> int:
    return max(int(_ANSWER_SHARE * (context.max_tokens or 0)), ANSWER_TOKENS + seen_tokens)


def _seen_tokens(state: AgentState, context: Context) -> int:
    """What task and steps take in the answer's prompt, by their length."""
    steps = sum(extent(step["observation"]) + extent(str(step["arguments"])) for step in trajectory(state))
    earlier = extent(str(state.get("progress", {}).get("earlier") or ""))
    shown = min(steps, context.sizes.answer) + min(earlier, context.sizes.written)
    return (shown + extent(state.get("task", ""))) // BYTES_PER_TOKEN


def exhausted(state: AgentState, context: Context, now: Usage | None = None, *, steps: bool = True) -> str:
    """Which budget leaves no room for anything but the answer: '', steps, moves, tokens, usd or seconds.

    `now` is usage that the state does not hold yet. Without `steps` it tells whether a further model call
    that is no answer can be paid.
    """
    if steps:
        used = spent(state)
        if used.calls >= context.max_steps:
            return "steps"
        if used.moves >= context.most_moves:
            return "moves"
    if budget := allowance(state, context, now).spent():
        return budget
    # The seconds of a model that could only have been asked again when they had passed are as good as spent.
    usages = [*state.get("usage", {}).values(), now or {}]
    waited_out = max(usage.get("out_of_time", 0.0) for usage in usages)
    return "seconds" if context.max_seconds is not None and waited_out >= context.max_seconds else ""


def allowance(
    state: AgentState, context: Context, now: Usage | None = None, *, answered: bool = False
) -> Allowance:
    """What one of the wave's subtasks, or a node that works alone, may use now.

    That is its share of what is left beyond the reserve, so that all of them together keep within the
    budget. When the task is `answered`, nothing is kept back any more.
    """
    used, width = spent(state, now), max(len(state.get("dispatch", [])), 1)
    allowed, share = Allowance(), 1.0 if answered else 1 - _ANSWER_SHARE
    if context.max_tokens is not None:
        reserve = 0 if answered else reserve_tokens(state, context)
        allowed.tokens = (context.max_tokens - used.tokens - reserve) / width
    if context.max_usd is not None:
        allowed.usd = (context.max_usd * share - used.usd) / width
    if context.max_seconds is not None:
        # Those of the proposals are not in the trajectory before the wave has ended.
        proposing = [proposal["seconds"] for proposal in state.get("proposals", {}).values()]
        passed = active_seconds(state) + (now or {}).get("seconds", 0.0) + max(proposing, default=0.0)
        left = context.max_seconds * share - passed
        allowed.deadline, allowed.whole_seconds = time.monotonic() + left, context.max_seconds
    return allowed


def answer_allowance(state: AgentState, context: Context) -> Allowance:
    """What the answer and its repairs may use: all that is left, and never less than was kept back for it,
    whatever the calls in flight have taken. It is asked for once in any case."""
    allowed = allowance(state, context, answered=True)
    allowed.tokens = max(allowed.tokens, reserve_tokens(state, context))
    allowed.usd = max(allowed.usd, (context.max_usd or 0) * _ANSWER_SHARE)
    least = time.monotonic() + (context.max_seconds or 0) * _ANSWER_SHARE
    allowed.deadline = max(allowed.deadline, least)
    return allowed


@dataclass(frozen=True)
class Width:
    """How many subtasks the next wave may send, and which budget bounds it ('': none does)."""

    subtasks: int
    bound: str


def wave_width(state: AgentState, context: Context) -> Width:
    """Never more than the calls, moves, tokens and dollars that are left allow.

    Each step also adds to what the answer will take. Seconds bound no width: siblings take theirs at the
    same time.
    """
    used, step = spent(state), _step_cost(state)
    widths = [Width(context.max_parallel, ""), Width(context.max_steps - used.calls, "steps")]
    widths.append(Width(context.most_moves - used.moves, "moves"))
    if context.max_tokens is not None:
        seen = _seen_tokens(state, context)
        left = context.max_tokens - used.tokens - _reserve(seen, context)
        each = max(charged_tokens(step), 1) + seen // max(len(trajectory(state)), 1)
        widths.append(Width(left // each, "tokens"))
    if context.max_usd is not None and step["usd"]:
        left_usd = context.max_usd * (1 - _ANSWER_SHARE) - used.usd
        widths.append(Width(int(left_usd / step["usd"] + _ROUNDING), "usd"))
    narrowest = min(widths, key=lambda width: width.subtasks)
    return Width(max(narrowest.subtasks, 0), narrowest.bound)


def _step_cost(state: AgentState) -> Usage:
    """What a step is taken to cost: the mean of those seen, else of a call; `usd` is 0 where unknown."""
    known = [step["usage"] for step in _steps(state) if charged_tokens(step["usage"])]
    usages = known or list(state.get("usage", {}).values())
    count = len(known) or sum(usage.get("calls", 0) for usage in usages) or 1
    tokens = max(sum(map(charged_tokens, usages)) // count, 0 if known else _FIRST_STEP_TOKENS)
    return Usage(input_tokens=tokens, usd=sum(usage.get("usd", 0.0) for usage in usages) / count)


def scarce_text(state: AgentState, context: Context) -> str:
    """What is left, where it is a fifth or less of the calls, moves or tokens; '' else: a worker with more
    need not know, and a text that changes in each prompt is in no cache."""
    used = spent(state)
    limits = (
        (used.calls, context.max_steps),
        (used.moves, context.most_moves),
        (used.tokens, context.max_tokens or math.inf),
    )
    return left_text(state, context) if any(so_far >= _SCARCE * most for so_far, most in limits) else ""


def left_text(state: AgentState, context: Context) -> str:
    """What is left, for a prompt. It names no time, so that a replay asks with the same words."""
    used = spent(state)
    calls = f"{max(context.max_steps - used.calls, 0)} of {context.max_steps} tool calls"
    moves = f"{max(context.most_moves - used.moves, 0)} of {context.most_moves} moves"
    if context.max_tokens is None:
        return f"{calls}, {moves}."
    tokens = max(context.max_tokens - used.tokens - reserve_tokens(state, context), 0)
    return f"{calls}, {moves}, about {tokens // 1000} thousand tokens."
