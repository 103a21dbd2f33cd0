"""Asking the person during a run: an interrupt, answered when the thread is resumed."""

from __future__ import annotations

from typing import Any

from langgraph.types import interrupt


def ask_person(subtask: str, n: int, question: str, choices: list[str]) -> str:
    """The person's answer. There must be no effect before this in the node: the node runs again on resume."""
    payload = {
        "kind": "question",
        "id": f"question-{n}",
        "n": n,
        "subtask": subtask,
        "question": question,
        "choices": choices,
    }
    reply = interrupt(payload)
    if isinstance(reply, dict):
        value = reply.get("value")
        return str(value if value is not None else reply.get("reason") or reply.get("decision") or "")
    return str(reply)


def read_reply(reply: Any) -> tuple[str, Any, str]:
    """The decision, value and reason of a reply to a plan or a call; bare text is the decision."""
    if not isinstance(reply, dict):
        return str(reply).strip().lower(), None, ""
    return str(reply.get("decision", "")).strip().lower(), reply.get("value"), str(reply.get("reason") or "")
