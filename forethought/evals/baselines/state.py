"""The state that the baselines share: plain JSON, as every graph's here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from typing_extensions import TypedDict

from forethought.state.reducers import append, delta, merge

Json = dict[str, Any]
Ended = Literal["", "answered", "over", "steps", "tokens", "no_reply"]
"""Why a try ended: it gave its answer, its world is over, a budget is spent, or the model gave no usable
reply ('' it goes on)."""


class Move(TypedDict):
    """One turn of the model and what came of it."""

    n: int
    """Counts through all tries of a sample, from 1."""
    attempt: int
    """Number of the try."""
    thought: str
    action: Literal["call", "finish", "none"]
    """'none': there was no usable reply."""
    tool: str
    arguments: Json
    answer: str
    """For finish."""
    observation: str
    ok: bool
    cause: str
    """'' if ok; else as `tools.base.Observation` has it, or 'proposal' for no usable reply."""


class Try(TypedDict):
    """A finished try."""

    number: int
    answer: str
    ended: Ended
    reward: float | None
    solved: bool | None
    """The verdict that the method received or gave itself; None without one."""
    verdict: str
    """The method's reasons for its own verdict ('': none)."""


class Limits(TypedDict):
    """Where the present try ends, counted over all tries of the sample."""

    steps: int
    tokens: int
    reserve: int
    """Tokens reserved for the answer."""


class Planned(TypedDict, total=False):
    """The plan of plan-and-act."""

    steps: list[str]
    """The steps left; the first is the current one."""
    done: list[Json]
    """{step, result} of the finished steps."""
    versions: int


class State(TypedDict, total=False):
    """All channels of a baseline's graph."""

    task: str
    """The task, with the world's first observation."""
    number: int
    limits: Limits
    moves: Annotated[list[Move], delta(append)]
    proposal: Json
    """The next move."""
    notes: Annotated[Json, merge]
    """The prompt's other parts: insights, examples, errors, reflections, feedback."""
    plan: Planned
    ended: Ended
    answer: str
    tried: list[Try]
    chosen: int
    """Number of the chosen try."""


def moves_of(state: State, number: int | None = None) -> list[Move]:
    """The moves of try `number`, by default the present one; all where the tries are one history."""
    if number is None and state.get("notes", {}).get("one_history"):
        return list(state.get("moves", []))
    wanted = state.get("number", 1) if number is None else number
    return [move for move in state.get("moves", []) if move["attempt"] == wanted]
