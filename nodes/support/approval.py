"""Questions to the person, as interrupts: whether a call may be made (kind "tool"), and the agent's own.

A call that only sends an address, as visit_webpage does, goes if somebody gave the address whole. But to
choose among the links that others gave tells something, too: once something private was read, the choices of
a task may tell CHOICE_BITS, unless `approve_tools` is never. Any other that changes or sends something goes
if the person's words cover it (`nodes.support.coverage`). web_search only reads: its words go to the search
engine that the operator chose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from langgraph.types import interrupt

from forethought.nodes.support.addresses import addresses_in
from forethought.nodes.support.coverage import Given, likeness, opened, uncovered, what_is_given
from forethought.nodes.support.inbox import reply_of, with_request
from forethought.nodes.support.origins import influence
from forethought.state.agent import AgentState, Proposal
from forethought.state.context import Context
from forethought.tools.base import Tool
from forethought.tools.call import check_arguments

Json = dict[str, Any]
T = TypeVar("T")
CHOICE_BITS = 12
"""One of 600 links tells 9, a PIN of four digits 13."""
_DONE = {"approve": "approved", "approve all": "approved all", "edit": "edited", "reject": "rejected"}


@dataclass(frozen=True)
class ApprovalDecision:
    """What may be done: the call with these arguments, or nothing."""

    arguments: Json
    word: str = ""
    """'' if nobody was asked; else approved, approved all, edited or rejected."""
    reason: str = ""
    """Why the person rejected it."""
    pinned: bool = False
    """Whether a redirect to another host is refused, since the model or the person wrote the address."""


def require_approval(
    tool: Tool, proposal: Proposal, state: AgentState, tools: Mapping[str, Tool], context: Context
) -> ApprovalDecision:
    """Ask the person if the call needs it, until the reply is usable. There is no effect before this: the
    node runs again when the thread is resumed."""
    arguments, always = proposal["arguments"], context.approve_tools == "always"
    came = influence(state, tools)
    free = context.approve_tools == "never" and (tool.effect == "write" or not came.private)
    if tool.effect == "read" or not (always or (came.outside and not free)):
        return ApprovalDecision(arguments)
    given, key = what_is_given(state, tools, proposal), opened(tool, arguments)
    settled = likeness(tool, arguments) in given.settled
    changes = [] if tool.address else uncovered(tool, arguments, given, state, tools)
    if tool.address:
        why = _why_not_open(key, given, bounded=context.approve_tools != "never")
    else:
        why = _why_not(tool, changes, given, list(came.private))
    if settled or not (why or always):
        return ApprovalDecision(arguments, pinned=key in given.approved or (settled and key is not None))
    why = why or "Every call that changes or sends something needs your approval."
    wave = [item for item in state.get("proposals", {}).values() if item["n"] != proposal["n"]]
    outside = f" The thread contains text from outside: {', '.join(came.outside)}." if came.outside else ""
    payload = {
        "kind": "tool",
        "id": f"tool-{proposal['n']}",
        "n": proposal["n"],
        "subtask": proposal["subtask"],
        "tool": tool.name,
        "arguments": arguments,
        "effect": tool.effect,
        "why": why + outside,
        "changes": changes,
        "like": [item["arguments"] for item in wave if item["tool"] == tool.name],
        "choices": list(_DONE),
    }

    def edited(value: Any) -> Json | str:
        wrong = f"value must be an object with the arguments of {tool.name}"
        return (check_arguments(tool, value) or value) if isinstance(value, dict) else wrong

    word, changed, reason = ask_decision(payload, edited)
    arguments = arguments if changed is None else changed
    return ApprovalDecision(arguments, _DONE[word], reason, pinned=tool.address is not None)


def _why_not_open(key: str | None, given: Given, *, bounded: bool) -> str:
    if key in {*addresses_in(given.words), *given.approved}:
        return ""
    if key not in given.others:
        return (
            "This address comes neither from you nor from a source: the model composed it from what it read."
        )
    told = (
        f"The model chose among {len(set(given.others.values()))} links of other authors: its "
        "choice can reveal private data."
    )
    return told if bounded and given.chosen > CHOICE_BITS else ""


def _why_not(tool: Tool, changes: list[Json], given: Given, private: list[str]) -> str:
    readers = [part[5:] for part in private if tool.effect == "egress" and part.startswith("tool:")]
    unnamed = [name for name in (tool.name, *readers) if not given.foresees(name)]
    if unnamed:
        return f"Neither you nor an early plan named these tools: {', '.join(unnamed)}."
    names = dict.fromkeys(change["argument"] for change in changes)
    return f"You did not give: {', '.join(names)}." if names else ""


def ask_decision(payload: Json, edited: Callable[[Any], T | str]) -> tuple[str, T | None, str]:
    """The person's decision on a plan or a call, what `edited` makes of an edit's value, and the reason."""
    choices = payload["choices"]

    def read(reply: Any) -> tuple[str, T | None, str] | str:
        reply = reply if isinstance(reply, dict) else {"decision": reply}
        word = str(reply.get("decision", "")).strip().lower()
        if word not in choices:
            return f"decision must be {', '.join(choices[:-1])} or {choices[-1]}, not {word!r}"
        value, reason = edited(reply.get("value")) if word == "edit" else None, reply.get("reason")
        return value if isinstance(value, str) else (word, value, str(reason or "no reason given"))

    return ask_until(payload, read)


def ask_until(payload: Json, read: Callable[[Any], T | str]) -> T:
    """What `read` makes of the person's reply; a text says what is wrong with it, and they are asked again,
    with the reply as `refused`. There must be no effect before this: the node runs again on resume."""
    again: Json = {"problem": ""}
    while True:
        reply = reply_of(interrupt(with_request({**payload, **again})), payload)
        result = read(reply)
        if not isinstance(result, str):
            return result
        again = {"problem": result, "refused": reply}


def ask_person(subtask: str, n: int, question: str, choices: list[str]) -> str:
    """The person's answer. There must be no effect before this: see `ask_until`."""
    asked = {"question": question, "choices": choices}
    payload: Json = {"kind": "question", "id": f"question-{n}", "n": n, "subtask": subtask, **asked}
    reply = reply_of(interrupt(with_request(payload)), payload)
    if isinstance(reply, dict):
        value = reply.get("value")
        return str(value if value is not None else reply.get("reason") or reply.get("decision") or "")
    return str(reply)
