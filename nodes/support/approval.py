"""Approval: whether a call that changes or sends something may be made, and the question to the person.

Approval rules decide first. Else, once text from outside is in the thread, the person's grants decide
(`nodes.support.consent`), or their reply. A tool that only opens an address, such as visit_webpage, may also
open an address that another author gave whole. But a choice among links can reveal private data that was
read: the choices of a task may reveal CHOICE_BITS, unless `approve_tools` is `never`. web_search only reads:
its words go to the search engine that the operator chose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from forethought.nodes.support.consent import likeness, why_not_granted
from forethought.nodes.support.grants import grants_key, grants_messages
from forethought.nodes.support.links import Links, links_of, opened
from forethought.nodes.support.origins import influence, thread_steps
from forethought.nodes.support.questions import ask_decision
from forethought.nodes.support.services import Services
from forethought.nodes.support.values import normal_forms
from forethought.state.agent import AgentState, Proposal
from forethought.state.context import Context
from forethought.tools.base import Tool
from forethought.tools.call import check_arguments, normalise

Json = dict[str, Any]
CHOICE_BITS = 12
"""A choice among 600 links reveals 9 bits; a PIN of four digits has 13."""
ALWAYS = "This call needs your approval."
FORBIDDEN = "Not called: an approval rule forbids this call"
_DONE = {"approve": "approved", "approve all": "approved all", "edit": "edited", "reject": "rejected"}


@dataclass(frozen=True)
class ApprovalDecision:
    """The decision on a call: make it with these arguments, or not at all."""

    arguments: Json
    word: str = ""
    """'' without a question; denied by an approval rule; else approved, approved all, edited or rejected."""
    reason: str = ""
    """Why the call is rejected."""
    pinned: bool = False
    """Whether a redirect to another host is refused, since the model or the person wrote the address."""


@dataclass(frozen=True)
class Ruling:
    """The decision before a person is asked; `grants`: the person's grants decide."""

    decision: Literal["allow", "deny", "ask", "grants"]
    why: str = ""
    choices: tuple[str, ...] = tuple(_DONE)
    pinned: bool = False


def ruling_on(
    tool: Tool, proposal: Proposal, state: AgentState, services: Services, context: Context
) -> Ruling:
    """Decide a call by everything but grants."""
    arguments, always = proposal["arguments"], context.approve_tools == "always"
    if tool.effect == "read":
        return Ruling("allow")
    tools = services.tools
    rules = (*services.settings.approvals, *context.approvals)
    values = normalise(tool, arguments)
    if rule := next((rule for rule in rules if rule.matches(tool.name, values, normal_forms)), None):
        return Ruling(rule.decision, "An approval rule decides this.", rule.allowed_decisions)
    came = influence(state, tools)
    free = context.approve_tools == "never" and (tool.effect == "write" or not came.private)
    if not (always or (came.outside and not free)):
        return Ruling("allow")
    links, key = links_of(state, tools, proposal), opened(tool, arguments)
    if likeness(tool, arguments) in _approved_together(state, tools):
        return Ruling("allow", pinned=key is not None)
    if always:
        return Ruling("ask", ALWAYS)
    if tool.address and not (key in links.own and key not in links.approved):
        why = _why_not_open(key, links, bounded=context.approve_tools != "never")
        return Ruling("ask" if why else "allow", why, pinned=key in links.approved)
    return Ruling("grants")


def require_approval(
    tool: Tool,
    proposal: Proposal,
    state: AgentState,
    services: Services,
    context: Context,
    *,
    was_asked: bool,
) -> ApprovalDecision:
    """Ask the person if the call needs it, until the reply is usable.

    Have no effect before this: the node runs again when the thread is resumed. If the person was asked
    before, their reply decides, whatever has changed since.
    """
    arguments, changes, tools = proposal["arguments"], list[Json](), services.tools
    ruling = ruling_on(tool, proposal, state, services, context)
    why = ruling.why
    if ruling.decision == "grants":
        read = state.get("grants") or {"key": "", "grants": [], "problem": "no model was asked"}
        why, changes = why_not_granted(tool, arguments, read["grants"], state, tools, proposal["n"])
        if read["problem"] or read["key"] != grants_key(grants_messages(state, tools)):
            why = f"Your consent could not be read: {read['problem'] or 'the words or the call are new'}."
    if ruling.decision == "deny":
        return ApprovalDecision(arguments, "denied", FORBIDDEN)
    if not was_asked and (ruling.decision == "allow" or (ruling.decision == "grants" and not why)):
        return ApprovalDecision(arguments, pinned=ruling.pinned)
    outside = influence(state, tools).outside
    wave = [item for item in state.get("proposals", {}).values() if item["n"] != proposal["n"]]
    came = f" The thread contains text from outside: {', '.join(outside)}." if outside else ""
    payload = {
        "kind": "tool",
        "id": f"tool-{proposal['n']}",
        "n": proposal["n"],
        "subtask": proposal["subtask"],
        "tool": tool.name,
        "arguments": arguments,
        "effect": tool.effect,
        "why": (why or ALWAYS) + came,
        "changes": changes,
        "like": [item["arguments"] for item in wave if item["tool"] == tool.name],
        "choices": list(ruling.choices),
    }

    def edited(value: Any) -> Json | str:
        wrong = f"value must be an object with the arguments of {tool.name}"
        if problem := check_arguments(tool, value) if isinstance(value, dict) else wrong:
            return problem
        ruling = ruling_on(tool, {**proposal, "arguments": value}, state, services, context)
        return FORBIDDEN if ruling.decision == "deny" else value

    word, changed, reason = ask_decision(payload, edited)
    arguments = arguments if changed is None else changed
    return ApprovalDecision(arguments, _DONE[word], reason, pinned=tool.address is not None)


def _approved_together(state: AgentState, tools: Mapping[str, Tool]) -> list[tuple[str, Any]]:
    """The calls of the task whose like the person approved with them."""
    base = state.get("progress", {}).get("base_n", 0)
    steps = [step for step in thread_steps(state) if step["approval"] == "approved all" and step["n"] > base]
    return [likeness(tool, step["arguments"]) for step in steps if (tool := tools.get(step["tool"] or ""))]


def _why_not_open(key: str | None, links: Links, *, bounded: bool) -> str:
    if key in links.approved:
        return ""
    if key not in links.others:
        return (
            "This address comes neither from you nor from a source: the model composed it from what it read."
        )
    many = len(set(links.others.values()))
    told = f"The model chose among {many} links of other authors: its choice can reveal private data."
    return told if bounded and links.chosen > CHOICE_BITS else ""
