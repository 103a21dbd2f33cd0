"""Making one call for a step: what the tool may use of the run, and what the call came to and cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from forethought.journal import current
from forethought.models.allowance import Allowance
from forethought.models.once import left_behind, unclaimed
from forethought.models.record import digest
from forethought.models.types import Usage
from forethought.nodes.attempts import Attempts, Made, attempts_at, attempts_of, call_name
from forethought.nodes.call_once import Unknown, call_once, decided
from forethought.nodes.support.addresses import for_person
from forethought.nodes.support.approval import Verdict, ask_person
from forethought.nodes.support.code_actions import CodeActions
from forethought.nodes.support.inspection import Inspection
from forethought.nodes.support.prompt_text import compact
from forethought.nodes.support.provenance import joined
from forethought.nodes.support.services import Services, Turn
from forethought.nodes.unknown_outcome import ask_outcome
from forethought.state.agent import AgentState, Proposal
from forethought.text import cut
from forethought.tools.base import Tool, ToolEnv
from forethought.tools.call import call_tool

Json = dict[str, Any]
_TOLD = 300
"""Characters of a call that are kept to tell a person or a model of it."""


@dataclass(frozen=True)
class Begun:
    """What became of a step's call before this run of the step."""

    verdict: Verdict | None = None
    """What may be done, where that is decided: the call was made, or was broken off and may have taken
    effect or was approved. A person who has approved it is not asked again whether it may be made, but what
    came of it if it may have taken effect."""
    again: bool = False
    """Whether it was decided and is yet to be made: it was broken off, and changes nothing."""
    attempts: Attempts | None = None
    note: str = ""
    """Of another call that the step was to make before it was edited, and that changed something, or may
    have."""
    spent: list[Usage] = field(default_factory=list)
    """What such other calls had cost."""


async def look_back(tool: Tool | None, proposal: Proposal) -> Begun:
    """What the journal knows of the proposal's call; None for a tool that is not there."""
    found, others = await attempts_at(str(proposal["n"]), tool, proposal["arguments"])
    note = "\n".join(_left(other) for other in others if "call" in other.intent)
    # What its own task was told is booked with the step's call, unless there is no tool to make it.
    replies = left_behind if tool is not None else unclaimed
    spent = [usage for other in others for usage in await _cost(other, replies)]
    if tool is None or found is None or not decided(tool, found):
        return Begun(note=note, spent=spent)
    again = found.outcome is None and tool.repeatable
    return Begun(_verdict(proposal, found), again, found, note, spent)


async def make_call(
    tool: Tool,
    proposal: Proposal,
    verdict: Verdict,
    begun: Begun,
    state: AgentState,
    turn: Turn,
    allowance: Allowance,
) -> Made:
    """Make the call that was settled, once: see `nodes.call_once`. What models cost that it asks is booked in
    `allowance`. Raises ReplayError where a recording lacks what the tool asked a model."""
    services, inspection = turn.services, Inspection(turn, allowance)
    name = call_name(tool, verdict.arguments, str(proposal["n"]))
    attempts = begun.attempts or await attempts_of(name)
    call_id = str(attempts.intent.get("call_id") or current().id(name))
    env = replace(_environment(proposal, state, services, inspection, verdict), call_id=call_id)
    code = CodeActions(services.tools, env, state, proposal["n"], inspection)

    async def make() -> Made:
        observation = await call_tool(tool, verdict.arguments, code.env if tool.runs_code else env)
        if inspection.missing:
            raise inspection.missing
        if code.sub_steps:
            read = [item["origin"] for item in code.sub_steps]
            observation = replace(observation, origin=joined([observation.origin, *read]))
        if inspection.spent:
            observation = replace(observation, origin=f"{observation.origin}, model")
        return Made(observation, code.sub_steps)

    def settle(unknown: Unknown) -> Made | None:
        return ask_outcome(unknown, proposal, lambda text: for_person(text, state, services.tools))

    intent: Json = {
        "proposed": digest(proposal["arguments"]),
        "word": verdict.word,
        "pinned": verdict.pinned,
        "call_id": call_id,
    }
    if not tool.repeatable:
        intent["call"] = cut(compact(verdict.arguments), _TOLD)
    if verdict.word == "edited":
        intent["arguments"] = verdict.arguments
    return await call_once(tool, verdict.arguments, attempts, allowance, make, settle, intent)


def _verdict(proposal: Proposal, found: Attempts) -> Verdict:
    """The decision behind an attempt. Its arguments are the proposal's own unless a person edited them: they
    are shown before the call is made again."""
    word, arguments = found.intent.get("word"), found.intent.get("arguments")
    pinned = found.intent.get("pinned") is not False
    if word == "edited" and isinstance(arguments, dict):
        return Verdict(arguments, "edited", pinned=pinned)
    return Verdict(proposal["arguments"], "approved" if word == "approved" else "", pinned=pinned)


def _left(other: Attempts) -> str:
    call = f"An earlier call of this step, {other.intent.get('tool')}({other.intent.get('call')}), was"
    if other.outcome is not None:
        return f"{call} made before; it came to: {cut(other.outcome.observation.text, _TOLD)}"
    return f"{call} broken off; it may have taken effect"


async def _cost(other: Attempts, replies: Callable[[str], Awaitable[list[Usage]]]) -> list[Usage]:
    given = await replies(other.name)
    if other.outcome is not None:
        return [*other.outcome.inspected, *other.outcome.paid]
    return given


def _environment(
    proposal: Proposal, state: AgentState, services: Services, inspection: Inspection, verdict: Verdict
) -> ToolEnv:
    def ask(question: str, choices: list[str]) -> str:
        shown = [for_person(text, state, services.tools) for text in (question, *choices)]
        return ask_person(proposal["subtask"], proposal["n"], shown[0], shown[1:])

    return ToolEnv(
        settings=services.settings,
        files={item["name"]: item["hash"] for item in state.get("files", []) if not isinstance(item, str)},
        results={key: result["text"] for key, result in state.get("results", {}).items()},
        origins={key: result["origin"] for key, result in state.get("results", {}).items()},
        store=services.store,
        inspect=inspection,
        look=inspection.look,
        ask=ask,
        book=inspection.paid.append,
        same_host_only=verdict.pinned,
    )
