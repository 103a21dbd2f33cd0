"""A call that was broken off, so that nobody knows whether it took effect: the person is asked.

An interrupt {kind: "question", ...} whose choices say what is to be done. Only they are understood, and "do
it again" names its attempt: LangGraph keeps a reply with the checkpoint and may hand it to a question that a
resumed step asks later, and none but its own may have a call made a second time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.types import interrupt

from forethought.nodes.attempts import Made
from forethought.nodes.call_once import Unknown
from forethought.nodes.support.prompt_text import compact
from forethought.state.agent import Proposal
from forethought.tools.base import Observation

HAPPENED, GIVE_UP = "it happened", "give up"


def ask_outcome(unknown: Unknown, proposal: Proposal, shown: Callable[[str], str]) -> Made | None:
    """What came of the call by the person's word, or None to make it again. `shown` makes text of the model's
    own fit to be shown. There is no effect before this: the node runs again when the thread is resumed."""
    again = again_word(unknown.attempt)
    choices = [HAPPENED, again, GIVE_UP]
    payload: dict[str, Any] = {
        "kind": "question",
        "id": f"question-{proposal['n']}",
        "n": proposal["n"],
        "subtask": proposal["subtask"],
        "question": shown(_question(unknown)),
        "choices": choices,
        "unknown": {"tool": unknown.tool.name, "arguments": unknown.arguments, "effect": unknown.tool.effect},
        "problem": "",
    }
    while True:
        word, text = _read(interrupt(payload))
        if word == again:
            return None
        if word == HAPPENED:
            return Made(_happened(text), by_person=True)
        if word == GIVE_UP:
            return Made(_given_up(text), by_person=True)
        problem = (
            f"the reply must be {', '.join(map(repr, choices))} (with ': ...' to say more), not {word!r}"
        )
        payload = {**payload, "problem": problem}


def again_word(attempt: int) -> str:
    """The reply that has a call made again whose `attempt`th attempt was broken off."""
    return "do it again" if attempt == 1 else f"do it again ({attempt})"


def _question(unknown: Unknown) -> str:
    call = f"{unknown.tool.name}({compact(unknown.arguments)})"
    return (
        f"This call was broken off, and nobody knows whether it took effect: {call}. Look whether it did, "
        f"then reply '{HAPPENED}' (add ': ...' to say what came of it), '{again_word(unknown.attempt)}' or "
        f"'{GIVE_UP}'."
    )


def _read(reply: Any) -> tuple[str, str]:
    """The choice and what was said besides; a rejection gives the call up."""
    said, reason = reply, ""
    if isinstance(reply, dict):
        reason = str(reply.get("reason") or "")
        if reply.get("decision") == "reject":
            return GIVE_UP, reason
        said = reply.get("value") if reply.get("decision") == "answer" else reply.get("decision")
    word, _, text = str(said if said is not None else "").partition(":")
    return word.strip().lower(), text.strip() or reason


def _happened(text: str) -> Observation:
    said = f" and says: {text}" if text else ""
    return Observation(
        f"The call was broken off before its result came; the person has seen that it took effect{said}",
        origin="user",
    )


def _given_up(text: str) -> Observation:
    why = f": {text}" if text else ""
    return Observation(
        f"The call was broken off before its result came. The person does not want it made again{why}. "
        "It may have taken effect.",
        ok=False,
        cause="unknown",
        origin="user",
    )
