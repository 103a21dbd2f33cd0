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
    """Runs on over the tries of a sample, from 1."""
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
    """What the method was told of it or judged itself; None where nobody judged."""
    verdict: str
    """Its own reasons for that ('' if there are none)."""


class Limits(TypedDict):
    """Where the present try ends, counted over all tries of the sample."""

    steps: int
    tokens: int
    reserve: int
    """Of the tokens, what is kept back for the answer."""


class Planned(TypedDict, total=False):
    """The plan of plan-and-act."""

    steps: list[str]
    """What is left; the first is the current one."""
    done: list[Json]
    """{step, result} of what was carried out."""
    versions: int


class State(TypedDict, total=False):
    """All channels of a baseline's graph."""

    task: str
    """With what the world shows at the beginning."""
    number: int
    limits: Limits
    moves: Annotated[list[Move], delta(append)]
    proposal: Json
    """The move that is made next."""
    notes: Annotated[Json, merge]
    """What stands in the prompt besides: insights, examples, errors, reflections, feedback."""
    plan: Planned
    ended: Ended
    answer: str
    tried: list[Try]
    chosen: int
    """Number of the try that counts."""


def moves_of(state: State, number: int | None = None) -> list[Move]:
    """The moves of try `number`, by default the present one; all where the tries are one history."""
    if number is None and state.get("notes", {}).get("one_history"):
        return list(state.get("moves", []))
    wanted = state.get("number", 1) if number is None else number
    return [move for move in state.get("moves", []) if move["attempt"] == wanted]
