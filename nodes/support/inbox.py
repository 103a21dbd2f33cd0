"""Questions and replies in the form of LangChain's human-in-the-loop requests, which chat clients show.

Beside our own fields a question holds `action_requests` and `review_configs`; `{"decisions": [...]}` is read
as a reply of ours. Clients render the arguments as Markdown, so nothing in them may be loaded before the
person has decided: what would be is shown as text, and an edit gets it back as it was.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from forethought.nodes.support.inert_text import inert

Json = dict[str, Any]
_DECISIONS = ("approve", "edit", "reject")


def with_request(payload: Json) -> Json:
    """A question, also as a request for one decision on one action."""
    name, arguments = _action(payload)
    choices = payload["choices"] if payload["kind"] != "question" else ("edit", "reject", "respond")
    decisions = [word for word in (*_DECISIONS, "respond") if word in choices]
    words = [payload.get("problem"), payload.get("why")]
    action = {"name": name, "args": _inert(arguments), "description": " ".join(filter(None, words))}
    config = {"action_name": name, "allowed_decisions": decisions}
    return {**payload, "action_requests": [action], "review_configs": [config]}


def reply_of(reply: Any, payload: Json) -> Any:
    """The reply, as `{decision, value, reason}` where it is a decision on our request."""
    match reply:
        case {"decisions": [{"type": "edit", "edited_action": {"args": dict(edited)}}]}:
            original = _action(payload)[1]
            value = _restored(edited, _inert(original), original)
            if payload["kind"] == "question":
                return {"decision": "answer", "value": str(value.get("answer", ""))}
            return {"decision": "edit", "value": value}
        case {"decisions": [{"type": "reject"} as decision]}:
            return {"decision": "reject", "reason": str(decision.get("message") or "")}
        case {"decisions": [{"type": "respond", "message": message}]}:
            return {"decision": "answer", "value": str(message)}
        case {"decisions": [{"type": word}]}:
            return {"decision": word}
    return reply


def _action(payload: Json) -> tuple[str, Json]:
    """Name and arguments of what is to be decided on; of a question, the answer is an argument to fill in."""
    if payload["kind"] == "tool":
        return payload["tool"], payload["arguments"]
    if payload["kind"] == "plan":
        return "plan", {"subtasks": payload["plan"]["subtasks"]}
    return "question", {"question": payload["question"], "choices": payload["choices"], "answer": ""}


def _inert(value: Any) -> Any:
    if isinstance(value, str):
        return inert(value, ())
    if isinstance(value, dict):
        return {key: _inert(item) for key, item in value.items()}
    return [_inert(item) for item in value] if isinstance(value, list) else value


def _restored(edited: Any, shown: Any, original: Any) -> Any:
    """What was edited, with each part as it was that still is as it was shown. A form gives what is no text
    as JSON."""
    if isinstance(edited, str) and not isinstance(shown, str | None):
        with suppress(ValueError):
            edited = json.loads(edited)
    if edited == shown:
        return original
    if isinstance(edited, dict) and isinstance(shown, dict):
        return {key: _restored(item, shown.get(key), original.get(key)) for key, item in edited.items()}
    if isinstance(edited, list) and isinstance(shown, list):
        pairs = dict(enumerate(zip(shown, original, strict=True)))
        return [_restored(item, *pairs.get(at, (None, None))) for at, item in enumerate(edited)]
    return edited
