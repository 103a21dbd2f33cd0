"""Questions to the person, as interrupts: whether a call may be made (kind "tool"), and the agent's own.

A write needs it as `approve_tools` says: never, when something from outside came into the thread before
(tainted), or always. A call that sends needs it, whatever `approve_tools` says, once something private and
something from outside are both in the thread, unless all that it sends is an address which the user or a tool
result gave: so a page cannot have a file carried out in an address. web_search only reads: its words go to
the search engine that the operator chose, not to an address that a page can name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from langgraph.types import interrupt

from forethought.nodes.support.provenance import (
    Influence,
    address_key,
    approved_addresses,
    influence,
    known_addresses,
    records,
)
from forethought.state.agent import AgentState, Proposal
from forethought.state.context import Context
from forethought.tools.base import Tool
from forethought.tools.call import check_arguments

Json = dict[str, Any]
T = TypeVar("T")
CHOICES = ["approve", "edit", "reject"]


@dataclass(frozen=True)
class ApprovalDecision:
    """What may be done: the call with these arguments, or nothing."""

    arguments: Json
    word: Literal["", "approved", "edited", "rejected"] = ""
    """'' if nobody was asked; else approved, edited or rejected."""
    reason: str = ""
    """Why it was rejected."""
    pinned: bool = False
    """Whether the address is the model's or the person's own, so that a redirect may not lead elsewhere."""


def require_approval(
    tool: Tool, proposal: Proposal, state: AgentState, tools: Mapping[str, Tool], context: Context
) -> ApprovalDecision:
    """Ask the person if the call needs it, until the reply is usable. There is no effect before this: the
    node runs again when the thread is resumed."""
    arguments = proposal["arguments"]
    if tool.effect == "read":
        return ApprovalDecision(arguments)
    origins = influence(state, tools)
    if tool.effect == "egress" and origins.guarded:
        key = address_key(str(arguments.get(tool.address))) if tool.address else None
        if key is not None and key in known_addresses(state, tools):
            return ApprovalDecision(arguments)
        if key is not None and key in approved_addresses(state, tools):
            return ApprovalDecision(arguments, pinned=True)
        return _ask(tool, proposal, _why_sending(tool, origins), origins, pinned=True)
    tainted = context.approve_tools == "tainted" and origins.outside
    if tool.effect == "write" and (tainted or context.approve_tools == "always"):
        return _ask(tool, proposal, _why_writing(origins), origins, pinned=False)
    return ApprovalDecision(arguments)


def _why_writing(origins: Influence) -> str:
    if not origins.outside:
        return "It changes something, and every change is to be approved."
    outside = ", ".join(origins.outside)
    return f"It changes something, after text from outside came into the thread: {outside}."


def _why_sending(tool: Tool, origins: Influence) -> str:
    what = (
        "It opens an address that neither you nor a source gave"
        if tool.address
        else "It sends its arguments out"
    )
    return (
        f"{what}, so it could carry out what is private: {', '.join(origins.private)}. "
        f"From outside came: {', '.join(origins.outside)}."
    )


def _ask(tool: Tool, proposal: Proposal, why: str, origins: Influence, *, pinned: bool) -> ApprovalDecision:
    payload = {
        "kind": "tool",
        "id": f"tool-{proposal['n']}",
        "n": proposal["n"],
        "subtask": proposal["subtask"],
        "tool": tool.name,
        "arguments": proposal["arguments"],
        "effect": tool.effect,
        "why": why,
        "influence": records(origins.outside),
        "choices": CHOICES,
    }

    def read(reply: Any) -> ApprovalDecision | str:
        word, value, reason = read_reply(reply)
        if word == "approve":
            return ApprovalDecision(proposal["arguments"], "approved", pinned=pinned)
        if word == "reject":
            return ApprovalDecision(proposal["arguments"], "rejected", reason)
        if word != "edit":
            return word
        if not isinstance(value, dict):
            return f"value must be the arguments of {tool.name}, as an object"
        wrong = check_arguments(tool, value)
        return wrong or ApprovalDecision(dict(value), "edited", pinned=pinned)

    return ask_until(payload, read)


def ask_until(payload: Json, read: Callable[[Any], T | str]) -> T:
    """What `read` makes of the person's reply; a text says what is wrong with it, and they are asked again.

    There must be no effect before this in the node: the node runs again on resume.
    """
    problem = ""
    while True:
        result = read(interrupt({**payload, "problem": problem}))
        if not isinstance(result, str):
            return result
        problem = result


def ask_person(subtask: str, n: int, question: str, choices: list[str]) -> str:
    """The person's answer. There must be no effect before this: see `ask_until`."""
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
    """The decision (approve, edit, reject, or what is wrong with it), value and reason of a reply to a plan
    or a call; bare text is the decision."""
    if not isinstance(reply, dict):
        reply = {"decision": reply}
    word = str(reply.get("decision", "")).strip().lower()
    if word not in CHOICES:
        word = f"decision must be approve, edit or reject, not {word!r}"
    return word, reply.get("value"), str(reply.get("reason") or "no reason given")
