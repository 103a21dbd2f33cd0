"""Making one call for a step: what the tool may use of the run, and what the call came to and cost."""

from __future__ import annotations

from dataclasses import replace

from forethought.journal import current
from forethought.models.allowance import Allowance
from graph.context import Context
from graph.state import AgentState, Proposal
from nodes.approval import Verdict
from nodes.call_once import Made, Unknown, call_id, call_once
from nodes.code_actions import CodeActions
from nodes.inert import for_person
from nodes.inspection import Inspection
from nodes.origins import joined
from nodes.person import ask_person
from nodes.services import Services
from nodes.unknown_outcome import ask_outcome
from tools.base import Tool, ToolEnv
from tools.call import call_tool


async def make_call(
    tool: Tool,
    proposal: Proposal,
    verdict: Verdict,
    state: AgentState,
    services: Services,
    context: Context,
    allowance: Allowance,
) -> Made:
    """Make the call that was settled, once: see `nodes.call_once`. What models cost that it asks is booked in
    `allowance`. Raises ReplayError where a recording lacks what the tool asked a model."""
    inspection = Inspection(services, context, allowance)
    name = call_id(tool, verdict.arguments, str(proposal["n"]))
    env = _environment(proposal, state, services, inspection, verdict)
    env = replace(env, call_id=current().id(name))
    code = CodeActions(services.tools, env, state, proposal["n"], inspection)

    async def make() -> Made:
        observation = await call_tool(tool, verdict.arguments, code.env if tool.name == "python" else env)
        if inspection.missing:
            raise inspection.missing
        if code.sub_steps:
            read = [item["origin"] for item in code.sub_steps]
            observation = replace(observation, origin=joined([observation.origin, *read]))
        if inspection.spent:
            observation = replace(observation, origin=f"{observation.origin}, model")
        return Made(observation, code.sub_steps, inspection.spent, inspection.paid)

    def settle(unknown: Unknown) -> Made | None:
        return ask_outcome(unknown, proposal, lambda text: for_person(text, state, services.tools))

    made = await call_once(tool, name, verdict.arguments, make, settle)
    if made.kept:
        allowance.used.extend(made.inspected)
        allowance.paid.extend(made.paid)
    return made


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
