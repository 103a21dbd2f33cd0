"""A corrected action as a proposal of the agent's: what the counterfactual puts in a step's place (3.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from forethought.rollouts.types import RolloutError

Json = dict[str, Any]
_CALL = re.compile(r"\s*([A-Za-z_][\w.-]*)\s*\((.*)\)\s*", re.DOTALL)
_MOVE = re.compile(r"\s*(finish|replan|answer)\s*:\s*(.*)", re.DOTALL | re.IGNORECASE)
_FORMS = 'write it as tool({"argument": "value"}), as finish: RESULT or as replan: REASON'


def move_of(action: str) -> tuple[str, str]:
    """('finish' | 'replan' | 'answer', its text), or ('', '') where `action` is a call."""
    found = _MOVE.fullmatch(action)
    return (found[1].lower(), found[2].strip()) if found else ("", "")


def call_of(action: str) -> tuple[str, Json]:
    """Tool and arguments of a call that is written as the trajectory shows calls: tool({...}).

    Raises RolloutError where it is no call.
    """
    found = _CALL.fullmatch(action)
    try:
        arguments = json.loads(found[2].strip() or "{}") if found else None
    except ValueError:
        arguments = None
    if found is None or not isinstance(arguments, dict):
        raise RolloutError(f"the corrected action is no move of the agent's ({action[:80]!r}): {_FORMS}")
    return found[1], arguments


def substituted_proposal(old: Mapping[str, Any], action: str, tool: str, arguments: Json) -> Json:
    """The proposal `old` with another move: a call of `tool`, or what `action` says. Raises RolloutError."""
    move, text = ("", "") if tool else move_of(action)
    if move == "answer":
        raise RolloutError("an answer cannot stand in a step's place: substitute it at the answer's own step")
    if not tool and not move:
        tool, arguments = call_of(action)
    return {
        **old,
        "action": move or "call",
        "tool": tool or None,
        "arguments": arguments,
        "finishes": bool(old.get("finishes")) if not move else False,
        "result": text if move == "finish" else "",
        "reason": text if move == "replan" else "",
        # What was foreseen of the old move and said of it does not hold for the new one.
        "expected": "",
        "evaluation": "",
        "thought": "a corrected move, put in for a test",
        "rejected": [],
    }
