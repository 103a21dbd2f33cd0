"""Caps and budgets of a task: what is used, what is left, and the part kept back so that an answer can always
be written."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from forethought.models.allowance import Allowance
from forethought.models.types import Usage
from forethought.nodes.support.answer_prompt import answer_prompt_tokens
from forethought.nodes.support.prompt_text import trajectory
from forethought.state.agent import AgentState
from forethought.state.context import Context

_ANSWER_TOKENS = 2_000
"""The answer itself and the schema that is sent with its prompt, roughly."""
_FIRST_STEP_TOKENS = 3_000
"""What a step is taken to cost at least before one was seen; else as much as a call of the task so far."""
_ANSWER_SHARE = 0.1
_ROUNDING = 1e-9
"""What sums of dollars may be off by."""


@dataclass(frozen=True)
class Spent:
    """What the task has used so far."""

    steps: int
    tokens: int
    usd: float


def spent(state: AgentState) -> Spent:
    """Sums over the task. Its seconds are apart (`active_seconds`): they take a walk through all steps."""
    usage = state.get("usage", {})
    progress = state.get("progress", {})
    return Spent(
        steps=progress.get("n", 0) - progress.get("base_n", 0),
        tokens=sum(u.get("input_tokens", 0) + u.get("output_tokens", 0) for u in usage.values()),
        usd=sum(u.get("usd", 0.0) for u in usage.values()),
    )


def active_seconds(state: AgentState) -> float:
    """Seconds that the task took: subtasks side by side count once, waiting for a person not at all."""
    waves: dict[int, float] = {}
    for step in trajectory(state):
        waves[step["wave"]] = max(waves.get(step["wave"], 0.0), step["seconds"])
    usage = state.get("usage", {})
    alone = sum(u.get("seconds", 0.0) for role, u in usage.items() if role not in ("tool", "inspector"))
    return alone + sum(waves.values())


def reserve_tokens(state: AgentState, context: Context) -> int:
    """Tokens kept back for the answer: what its prompt takes, as it would be now, and the reply."""
    return _reserve(_answer_tokens(state, context), context)


def _reserve(answer: int, context: Context) -> int:
    return max(answer, int(_ANSWER_SHARE * (context.max_tokens or 0)))


def _answer_tokens(state: AgentState, context: Context) -> int:
    return _ANSWER_TOKENS + answer_prompt_tokens(state, context)


def exhausted(state: AgentState, context: Context) -> str:
    """Which budget leaves no room for anything but the answer: '', steps, tokens, usd or seconds."""
    used = spent(state)
    if used.steps >= context.max_steps:
        return "steps"
    return exhausted_calls(state, context)


def exhausted_calls(state: AgentState, context: Context) -> str:
    """As `exhausted`, but steps aside: whether a further model call that is no answer can be paid."""
    used = spent(state)
    if context.max_tokens is not None and used.tokens + reserve_tokens(state, context) >= context.max_tokens:
        return "tokens"
    if context.max_usd is not None and used.usd >= context.max_usd * (1 - _ANSWER_SHARE):
        return "usd"
    if context.max_seconds is None:
        return ""
    # Those of a model that could only have been asked again when they had passed are as good as spent.
    waited_out = max(
        (usage.get("out_of_time", 0.0) for usage in state.get("usage", {}).values()), default=0.0
    )
    late = active_seconds(state) >= context.max_seconds * (1 - _ANSWER_SHARE)
    return "seconds" if late or waited_out >= context.max_seconds else ""


def allowance(state: AgentState, context: Context, *, answered: bool = False) -> Allowance:
    """What one of the wave's subtasks, or a node that works alone, may use now: its share of what is left
    beyond the reserve, so that all of them together keep within the budget. When the task is `answered`,
    nothing is kept back any more."""
    used, width = spent(state), max(len(state.get("dispatch", [])), 1)
    allowed, share = Allowance(), 1.0 if answered else 1 - _ANSWER_SHARE
    if context.max_tokens is not None:
        reserve = 0 if answered else reserve_tokens(state, context)
        allowed.tokens = (context.max_tokens - used.tokens - reserve) / width
    if context.max_usd is not None:
        allowed.usd = (context.max_usd * share - used.usd) / width
    if context.max_seconds is not None:
        # Those of the proposals are not in the trajectory before the wave has ended.
        proposing = [proposal["seconds"] for proposal in state.get("proposals", {}).values()]
        left = context.max_seconds * share - active_seconds(state) - max(proposing, default=0.0)
        allowed.deadline, allowed.whole_seconds = time.monotonic() + left, context.max_seconds
    return allowed


def answer_allowance(state: AgentState, context: Context) -> Allowance:
    """What the answer and its repairs may use: all that is left, and never less than was kept back for it,
    whatever the calls in flight have taken. It is asked for once in any case."""
    used, allowed = spent(state), Allowance()
    if context.max_tokens is not None:
        allowed.tokens = max(context.max_tokens - used.tokens, reserve_tokens(state, context))
    if context.max_usd is not None:
        allowed.usd = max(context.max_usd - used.usd, context.max_usd * _ANSWER_SHARE)
    if context.max_seconds is not None:
        left = max(context.max_seconds - active_seconds(state), context.max_seconds * _ANSWER_SHARE)
        allowed.deadline, allowed.whole_seconds = time.monotonic() + left, context.max_seconds
    return allowed


@dataclass(frozen=True)
class Width:
    """How many subtasks the next wave may send, and which budget bounds it ('': none does)."""

    subtasks: int
    bound: str


def wave_width(state: AgentState, context: Context) -> Width:
    """Never more than the steps, tokens and dollars that are left allow. Each step also adds to what the
    answer will take. Seconds bound no width: siblings take theirs at the same time."""
    used = spent(state)
    widths = [Width(context.max_parallel, ""), Width(context.max_steps - used.steps, "steps")]
    if context.max_tokens is not None:
        step, answer = _step_tokens(state), _answer_tokens(state, context)
        left = context.max_tokens - used.tokens
        widths.append(Width((left - _reserve(answer, context)) // step, "tokens"))
        widths.append(Width((left - answer) // (step + _told_tokens(state, context, answer)), "tokens"))
    step_usd = _step_usd(state)
    if context.max_usd is not None and step_usd:
        left_usd = context.max_usd * (1 - _ANSWER_SHARE) - used.usd
        widths.append(Width(int(left_usd / step_usd + _ROUNDING), "usd"))
    narrowest = min(widths, key=lambda width: width.subtasks)
    return Width(max(narrowest.subtasks, 0), narrowest.bound)


def _step_tokens(state: AgentState) -> int:
    known = _costs(state, lambda usage: usage.get("input_tokens", 0) + usage.get("output_tokens", 0))
    if known:
        return max(int(sum(known) / len(known)), 1)
    calls = _calls(state)
    return max(spent(state).tokens // calls if calls else 0, _FIRST_STEP_TOKENS)


def _told_tokens(state: AgentState, context: Context, answer: int) -> int:
    """What a step of the task has added to the answer's prompt; 0 before one was taken."""
    steps = len(trajectory(state))
    before = _answer_tokens({**state, "trajectory": []}, context) if steps else answer
    return (answer - before) // max(steps, 1)


def _step_usd(state: AgentState) -> float:
    """What a step is taken to cost in dollars; 0 where nothing is known of it."""
    known = _costs(state, lambda usage: usage.get("usd", 0.0))
    if known:
        return sum(known) / len(known)
    calls = _calls(state)
    return spent(state).usd / calls if calls else 0.0


def _costs(state: AgentState, cost: Callable[[Usage], float]) -> list[float]:
    return [known for step in trajectory(state) if (known := cost(step["usage"]))]


def _calls(state: AgentState) -> int:
    return sum(usage.get("calls", 0) for usage in state.get("usage", {}).values())


def left_text(state: AgentState, context: Context) -> str:
    """What is left, for a prompt. It names no time, so that a replay asks with the same words."""
    used = spent(state)
    steps = max(context.max_steps - used.steps, 0)
    text = f"Steps left: {steps} of {context.max_steps}."
    if context.max_tokens is not None:
        left = max(context.max_tokens - used.tokens - reserve_tokens(state, context), 0)
        text += f" Tokens left: about {left // 1000} thousand."
    return text
