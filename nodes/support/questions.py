"""Questions to the person, as interrupts: a decision on a plan or a call, and the agent's own questions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from langgraph.types import interrupt

from forethought.nodes.support.inbox import reply_of, with_request

Json = dict[str, Any]
T = TypeVar("T")
REJECTED = "Not called: a person rejected this call: "
"""Begins the observation of a rejected call; the person's reason follows."""
NO_REASON = "no reason given"


def ask_decision(payload: Json, edited: Callable[[Any], T | str]) -> tuple[str, T | None, str]:
    """Ask for the person's decision on a plan or a call.

    Args:
        payload: The question; its `choices` are the decisions that it accepts.
        edited: Makes the edit of its value, or returns the problem as a text.

    Returns:
        The decision, the edit (None without one) and the person's reason.
    """
    choices = payload["choices"]

    def read(reply: Any) -> tuple[str, T | None, str] | str:
        reply = reply if isinstance(reply, dict) else {"decision": reply}
        word = str(reply.get("decision", "")).strip().lower()
        if word not in choices:
            return f"decision must be one of {', '.join(choices)}, not {word!r}"
        value, reason = edited(reply.get("value")) if word == "edit" else None, reply.get("reason")
        return value if isinstance(value, str) else (word, value, str(reason or NO_REASON))

    return ask_until(payload, read)


def ask_until(payload: Json, read: Callable[[Any], T | str]) -> T:
    """Ask until `read` accepts the reply.

    If `read` returns a text, the person is asked again, with that text as `problem` and the reply as
    `refused`. Have no effect before this: the node runs again when the thread is resumed.
    """
    again: Json = {"problem": ""}
    while True:
        reply = reply_of(interrupt(with_request({**payload, **again})), payload)
        result = read(reply)
        if not isinstance(result, str):
            return result
        again = {"problem": result, "refused": reply}


def ask_person(subtask: str, n: int, question: str, choices: list[str]) -> str:
    """The person's answer to a question of the agent's. Have no effect before this: see `ask_until`."""
    asked = {"question": question, "choices": choices}
    payload: Json = {"kind": "question", "id": f"question-{n}", "n": n, "subtask": subtask, **asked}
    reply = reply_of(interrupt(with_request(payload)), payload)
    if isinstance(reply, dict):
        value = reply.get("value")
        return str(value if value is not None else reply.get("reason") or reply.get("decision") or "")
    return str(reply)
