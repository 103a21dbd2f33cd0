"""Questions to the person, as interrupts: whether a call may be made (kind "tool"), and the agent's own.

`approve_tools` says when a call that changes or sends something is asked for. `always`: each one. `tainted`
(default): only after something from outside came into the thread, and then only what the person's words do
not cover (`nodes.support.coverage`). `never`: no change; but what sends is gated as under `tainted` once
something private was read, so that no page can have a file carried out.

A call that sends nothing but an address goes if somebody gave the address whole. Choosing among the links
that others gave says something, too: since something private was read, all choices of a task may together
say as much as CHOICE_BITS. web_search only reads: its words go to the search engine that the operator chose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from langgraph.types import interrupt

from forethought.nodes.support import coverage
from forethought.nodes.support.addresses import addresses_in
from forethought.nodes.support.origins import influence, records
from forethought.state.agent import AgentState, Proposal
from forethought.state.context import Context
from forethought.tools.base import Tool
from forethought.tools.call import check_arguments

Json = dict[str, Any]
T = TypeVar("T")
CHOICES = ["approve", "edit", "reject"]
CHOICE_BITS = 12
"""One of 600 links says 9, a PIN of four digits 13."""


@dataclass(frozen=True)
class ApprovalDecision:
    """What may be done: the call with these arguments, or nothing."""

    arguments: Json
    word: Literal["", "approved", "approved all", "edited", "rejected"] = ""
    """'' if nobody was asked."""
    reason: str = ""
    """Why it was rejected."""
    pinned: bool = False
    """Whether the address is the model's or the person's own, so that a redirect may not lead elsewhere."""


def require_approval(
    tool: Tool, proposal: Proposal, state: AgentState, tools: Mapping[str, Tool], context: Context
) -> ApprovalDecision:
    """Ask the person if the call needs it, until the reply is usable. There is no effect before this: the
    node runs again when the thread is resumed."""
    arguments, mode = proposal["arguments"], context.approve_tools
    origins, pinned = influence(state, tools), tool.address is not None
    free = mode == "never" and (tool.effect == "write" or not origins.private)
    if tool.effect == "read" or (mode != "always" and (free or not origins.outside)):
        return ApprovalDecision(arguments)
    if coverage.like_approved(tool, arguments, state):
        return ApprovalDecision(arguments, pinned=pinned)
    given = coverage.what_is_given(state, tools, proposal)
    changes = [] if tool.address else coverage.uncovered(tool, arguments, given, state, tools)
    if mode == "always":
        why = "Every call that changes or sends something is to be approved."
    elif tool.address:
        if coverage.opened(tool, arguments) in coverage.approved(state, tools):
            return ApprovalDecision(arguments, pinned=True)
        why = _why_not_open(tool, arguments, given, state)
    else:
        why = _why_not(tool, changes, coverage.is_foreseen(tool, given, state))
    if not why:
        return ApprovalDecision(arguments)
    if origins.outside:
        why += f" Text from outside is in the thread: {', '.join(origins.outside)}."
    payload = {
        "kind": "tool",
        "id": f"tool-{proposal['n']}",
        "n": proposal["n"],
        "subtask": proposal["subtask"],
        "tool": tool.name,
        "arguments": arguments,
        "effect": tool.effect,
        "why": why,
        "changes": changes,
        "influence": records(origins.outside),
        "choices": ["approve", "approve all", "edit", "reject"],
    }
    return _ask(tool, payload, pinned)


def _why_not_open(tool: Tool, arguments: Json, given: coverage.Given, state: AgentState) -> str:
    key = coverage.opened(tool, arguments)
    if key in {*addresses_in(given.words), *state["progress"].get("foreseen", [])}:
        return ""
    if key not in given.addresses:
        return (
            "Neither you nor a source gave this address: the model put it together, and it may tell what "
            "was read."
        )
    if given.chosen <= CHOICE_BITS:
        return ""
    links = len(set(given.addresses.values()))
    return f"Text from outside gave {links} links: which of them are opened can tell what is private."


def _why_not(tool: Tool, changes: list[Json], foreseen: bool) -> str:
    names = ", ".join(dict.fromkeys(change["argument"] for change in changes))
    if not foreseen:
        return f"Neither your words nor a plan made before anything came from outside ask for {tool.name}."
    return f"You did not give what it says for {names}." if names else ""


def _ask(tool: Tool, payload: Json, pinned: bool) -> ApprovalDecision:
    def read(reply: Any) -> ApprovalDecision | str:
        word, value, reason = read_reply(reply, payload["choices"])
        if word == "reject":
            return ApprovalDecision(payload["arguments"], "rejected", reason)
        if word == "approve all":
            return ApprovalDecision(payload["arguments"], "approved all", pinned=pinned)
        if word == "approve":
            return ApprovalDecision(payload["arguments"], "approved", pinned=pinned)
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


def read_reply(reply: Any, choices: list[str] = CHOICES) -> tuple[str, Any, str]:
    """The decision (one of the choices, or what is wrong with it), value and reason of a reply to a plan or a
    call; bare text is the decision."""
    if not isinstance(reply, dict):
        reply = {"decision": reply}
    word = str(reply.get("decision", "")).strip().lower()
    if word not in choices:
        word = f"decision must be {', '.join(choices[:-1])} or {choices[-1]}, not {word!r}"
    return word, reply.get("value"), str(reply.get("reason") or "no reason given")
