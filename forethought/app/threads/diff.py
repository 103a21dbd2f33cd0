"""The difference of two runs that began alike: where they part, and what each did and saw from there.

Two steps are the same when the same was done and the same came back. What was thought, how long it took and
what it cost may differ: a step that was made again and came out alike is no parting.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forethought.app.threads.branches import tokens

Json = dict[str, Any]


@dataclass(frozen=True)
class Move:
    """One step, as it is compared."""

    n: int
    did: str
    observation: str


@dataclass(frozen=True)
class Side:
    """One of the two runs."""

    name: str
    moves: tuple[Move, ...]
    answer: str = ""
    status: str = ""
    tokens: int | None = None
    """Input and output tokens, where they are known of this run alone."""


def side_of_report(name: str, report: Mapping[str, Any]) -> Side:
    """A branch of a thread, from its report."""
    moves = tuple(Move(step["n"], _did(step), str(step.get("observation") or "")) for step in report["steps"])
    return Side(name, moves, report["answer"], report["status"], tokens(report["usage"]))


def side_of_trajectory(
    name: str, steps: Sequence[Mapping[str, Any]], answer: str = "", status: str = ""
) -> Side:
    """A trajectory's steps as they are kept in the debugger's state."""
    moves = tuple(
        Move(step["number"], str(step.get("action") or ""), str(step.get("observation") or ""))
        for step in steps
    )
    return Side(name, moves, answer, status)


def difference(a: Side, b: Side) -> Json:
    """What differs from `a` to `b`: {a, b, same_steps, parts_at, steps, answer_differs, more_tokens}.

    `steps` holds those that differ, {n, a, b}, with null where a side has no such step.
    """
    left, right = ({move.n: move for move in side.moves} for side in (a, b))
    numbers = sorted(left.keys() | right.keys())
    differing = [n for n in numbers if left.get(n) != right.get(n)]
    known = a.tokens is not None and b.tokens is not None
    return {
        "a": _summary(a),
        "b": _summary(b),
        "same_steps": len(numbers) - len(differing),
        "parts_at": differing[0] if differing else None,
        "steps": [{"n": n, "a": _shown(left.get(n)), "b": _shown(right.get(n))} for n in differing],
        "answer_differs": a.answer.strip() != b.answer.strip(),
        "more_tokens": (b.tokens or 0) - (a.tokens or 0) if known else None,
    }


def _did(step: Mapping[str, Any]) -> str:
    """What a step of the agent did, whole: its subtask and its call, or the move that was no call."""
    head = f"{step.get('subtask')}: "
    if step.get("tool") and step.get("action") in {None, "call"}:
        given = {key: value for key, value in (step.get("arguments") or {}).items() if value is not None}
        return head + f"{step['tool']}({json.dumps(given, ensure_ascii=False, sort_keys=True, default=str)})"
    return head + str(step.get("action") or "nothing")


def _summary(side: Side) -> Json:
    return {
        "branch": side.name,
        "status": side.status,
        "steps": len(side.moves),
        "answer": side.answer,
        "tokens": side.tokens,
    }


def _shown(move: Move | None) -> Json | None:
    return None if move is None else {"did": move.did, "observation": move.observation}
