"""Making one call for a step: what the tool may use of the run, and what the call came to and cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from forethought.journal import current_journal
from forethought.models.allowance import Allowance
from forethought.nodes.support.addresses import for_person
from forethought.nodes.support.approval import Verdict, ask_person
from forethought.nodes.support.calls import CallResult, PriorAttempts, call_once, prior_attempts
from forethought.nodes.support.code_actions import CodeActions
from forethought.nodes.support.inspection import Inspection
from forethought.nodes.support.prompt_text import compact
from forethought.nodes.support.provenance import joined
from forethought.nodes.support.services import Services, Turn
from forethought.state.agent import AgentState, Proposal
from forethought.text import cut
from forethought.tools.base import Tool, ToolEnv
from forethought.tools.call import call_tool

Json = dict[str, Any]
_SHOWN_CHARACTERS = 300
"""Of a call's arguments, to tell a person of it."""


@dataclass(frozen=True)
class PriorCall:
    """What became of a step's call before this run of the step."""

    verdict: Verdict | None = None
    """What may be done, where that is decided: the call was made, or was broken off and may have taken
    effect or was approved. A person who has approved it is not asked again whether it may be made, but what
    came of it if it may have taken effect."""
    again: bool = False
    """Whether it was decided and is yet to be made: it was broken off, and changes nothing."""
    attempts: PriorAttempts = field(default_factory=PriorAttempts)


async def find_prior_call(tool: Tool | None, proposal: Proposal) -> PriorCall:
    """What the journal knows of the proposal's call; `tool` is None where there is no such tool any more."""
    if tool is not None and tool.effect == "read":
        return PriorCall()
    attempts = await prior_attempts(proposal["n"])
    if tool is None or not attempts.begun:
        return PriorCall(attempts=attempts)
    intent = attempts.intent
    verdict = Verdict(intent["arguments"], intent["word"], pinned=intent["pinned"])
    return PriorCall(verdict, attempts.result is None and tool.repeatable, attempts)


async def make_call(
    tool: Tool,
    proposal: Proposal,
    verdict: Verdict,
    attempts: PriorAttempts,
    state: AgentState,
    turn: Turn,
    allowance: Allowance,
) -> CallResult:
    """Make the call that was settled, once: see `nodes.support.calls`.

    What models cost that it asks is booked in `allowance`. Raises ReplayError where a recording lacks what
    the tool asked a model.
    """
    services, inspection = turn.services, Inspection(turn, allowance)
    call_id = current_journal().id(f"call {proposal['n']}")
    env = replace(_environment(proposal, state, services, inspection, verdict), call_id=call_id)
    code = CodeActions(services.tools, env, state, proposal["n"], inspection)

    async def make() -> CallResult:
        observation = await call_tool(tool, verdict.arguments, code.env if tool.runs_code else env)
        if inspection.missing:
            raise inspection.missing
        if code.sub_steps:
            read = [item["origin"] for item in code.sub_steps]
            observation = replace(observation, origin=joined([observation.origin, *read]))
        if inspection.spent:
            observation = replace(observation, origin=f"{observation.origin}, model")
        return CallResult(observation, code.sub_steps, list(inspection.spent), list(inspection.paid))

    intent: Json = {
        "arguments": verdict.arguments,
        "word": verdict.word,
        "pinned": verdict.pinned,
        "call": cut(compact(verdict.arguments), _SHOWN_CHARACTERS),
    }

    def shown(text: str) -> str:
        return for_person(text, state, services.tools)

    if attempts.result is not None:
        allowance.used.extend(attempts.result.inspected)
        allowance.paid.extend(attempts.result.paid)
    return await call_once(tool, proposal, intent, attempts, make, shown)


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
