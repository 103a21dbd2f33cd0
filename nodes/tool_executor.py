"""tool_executor: carries a proposal out and records the step, whatever became of it.

Whatever a tool does wrong is a failed step with its cause; only interrupts pass through, and a recording that
lacks a reply. A call that needs a person's approval waits for it before anything is done. A call (tool and
arguments) that failed in this task is never made a second time: a repeat asks for a new plan. Success clears
the subtask's short-term memory; a failure is added to it and to the round's record in long-term memory
(MIRROR 3.5).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from forethought.journal import current_journal
from forethought.models.allowance import total
from forethought.models.types import Usage, no_usage
from forethought.nodes.support.approval import ApprovalDecision, require_approval
from forethought.nodes.support.budget import allowance
from forethought.nodes.support.calls import CallResult, find_prior_call
from forethought.nodes.support.conversation import call_message, step_messages
from forethought.nodes.support.foresight import Finding, ForesightModel
from forethought.nodes.support.origins import made_of
from forethought.nodes.support.questions import REJECTED
from forethought.nodes.support.services import Services, Turn
from forethought.nodes.support.spoken import show_message
from forethought.nodes.support.state_reader import read_state
from forethought.nodes.support.tool_env import beyond, earlier_failure, make_call
from forethought.nodes.tool_agent import WAVE_CHANNELS, memory_of
from forethought.state.agent import AgentState, Dispatch, Move, Proposal, Step, Surprise
from forethought.state.context import Context
from forethought.text import cut
from forethought.tools.base import Observation


@dataclass(frozen=True)
class _Outcome:
    """What became of a proposal."""

    observation: Observation
    finished: bool
    surprise: Surprise = "none"
    decision: ApprovalDecision | None = None
    """The person's decision on the call, and its arguments; None if there was no call to make."""
    result: CallResult | None = None
    """The call as made; None if none was made."""
    finding: Finding = field(default_factory=Finding)
    """The result of the comparison with the expectation."""

    def holds_back(self, proposal: Proposal) -> bool:
        """Whether only the comparison keeps the call from finishing its subtask, as it claimed to."""
        claimed = self.observation.ok and proposal["finishes"] and not self.observation.partial
        return claimed and bool(self.finding.note)

    def with_note(self, note: str) -> _Outcome:
        """With a note before what was observed; '' for none."""
        text = f"[{note}]\n{self.observation.text}" if note else self.observation.text
        return replace(self, observation=replace(self.observation, text=text))


async def tool_executor(
    dispatch: Dispatch, runtime: Runtime[Context], config: RunnableConfig, *, services: Services
) -> dict[str, Any]:
    """Carry out the proposal of this wave for one subtask."""
    turn = await services.turn(runtime)
    context = turn.context
    state = read_state(config, WAVE_CHANNELS)
    proposal = state["proposals"][dispatch["subtask"]]
    tool = services.tools.get(proposal["tool"] or "")
    is_question = tool is not None and tool.asks_person
    started = time.monotonic()
    outcome = await _call(proposal, state, turn) if proposal["action"] == "call" else _no_call(proposal)
    # Waiting for the person is not the agent's time.
    seconds = proposal["seconds"] + (0.0 if is_question else time.monotonic() - started)
    judged = outcome.finding.usage
    spent: list[Usage] = []
    if outcome.result:
        spent = [*outcome.result.inspected, *outcome.result.paid]
    step = _step(proposal, outcome, state, seconds, total(proposal["usage"], *spent, judged))
    memory = _memory(step, state, context, outcome)
    update: dict[str, Any] = {"trajectory": [step], "messages": step_messages(step), **memory}
    if spent:
        update["usage"] = {"inspector": total(*spent)}
    if outcome.holds_back(proposal):
        judged = total(judged, {"changed": 1})
    if judged["calls"] or "changed" in judged:
        update["usage"] = {**update.get("usage", {}), "foresight_tools": judged}
    if outcome.finished:
        called = proposal["action"] == "call"
        origin = outcome.observation.origin if called else made_of(dispatch["subtask"], state)
        text = _text_of_result(proposal, outcome, asked=is_question)
        update["results"] = {dispatch["subtask"]: {"n": dispatch["n"], "text": text, "origin": origin}}
    return update


def _no_call(proposal: Proposal) -> _Outcome:
    if proposal["action"] == "finish":
        return _Outcome(Observation(proposal["result"], origin="model"), True, proposal["surprise"])
    cause = "replan" if proposal["action"] == "replan" else "proposal"
    return _Outcome(
        Observation(proposal["reason"], ok=False, cause=cause, origin="model"), False, proposal["surprise"]
    )


async def _call(proposal: Proposal, state: AgentState, turn: Turn) -> _Outcome:
    services, context = turn.services, turn.context
    tool = services.tools.get(proposal["tool"] or "")
    prior = await find_prior_call(tool, proposal["n"])
    decision, allowed = prior.decision, allowance(state, context)
    if tool is None:  # a proposal edited by hand, or made when there were other tools
        gone = f"there is no tool {proposal['tool']!r}; tools are: {', '.join(services.tools)}"
        if decision is not None:
            gone = f"an unfinished call may have taken effect; {gone}"
        return _Outcome(Observation(gone, ok=False, cause="arguments", origin="model"), False)
    if decision is None:
        if (over := allowed.spent()) == "seconds":
            late = Observation(f"Not called: {beyond(over)}", ok=False, cause="limit", origin="model")
            return _Outcome(late, False, proposal["surprise"])
        if repeated := earlier_failure(tool, proposal["arguments"], state):
            return _Outcome(repeated, False, proposal["surprise"])
        asked = tool.effect != "read" and (await current_journal().question()).get("kind") == "tool"
        decision = require_approval(tool, proposal, state, services, context, was_asked=asked)
    if decision.word in ("rejected", "denied"):
        refused = decision.reason if decision.word == "denied" else f"{REJECTED}{decision.reason}"
        observation = Observation(refused, ok=False, cause="rejected", origin="user")
        return _Outcome(observation, False, proposal["surprise"], decision)
    turn.emit(
        "acting", n=proposal["n"], subtask=proposal["subtask"], tool=tool.name, arguments=decision.arguments
    )
    await show_message(call_message(proposal["n"], tool.name, decision.arguments))
    result = await make_call(tool, proposal, decision, prior, state, turn, allowed)
    finding = Finding(proposal["surprise"])
    if not result.by_person:
        finding = await ForesightModel(turn, allowed).call(tool, proposal, result.observation, state)
    observation = result.observation
    finished = observation.ok and proposal["finishes"] and not finding.note and not observation.partial
    outcome = _Outcome(observation, finished, finding.surprise, decision, result, finding)
    return outcome.with_note(finding.note)


def _step(proposal: Proposal, outcome: _Outcome, state: AgentState, seconds: float, usage: Usage) -> Step:
    progress, observation = state["progress"], outcome.observation
    text = observation.text + (f"\nHint: {observation.hint}" if observation.hint else "")
    decision = outcome.decision or ApprovalDecision(proposal["arguments"])
    step: Any = {
        **{name: value for name, value in proposal.items() if name in Move.__annotations__},
        "task": progress["task"],
        "round": progress["round"],
        "plan_version": state["plan"]["version"],
        "wave": progress["waves"],
        "action": proposal["action"],
        "arguments": decision.arguments,
        "observation": text,
        "ok": observation.ok,
        "finished": outcome.finished,
        "cause": observation.cause,
        "surprise": outcome.surprise,
        "origin": observation.origin,
        "approval": decision.word,
        "sub_steps": outcome.result.sub_steps if outcome.result else [],
        "seconds": round(seconds, 3),
        "usage": usage or no_usage(),
    }
    if outcome.finding.note:
        step["note"] = outcome.finding.note
    if deviation := outcome.finding.deviation(proposal):
        step["foresight"] = deviation
    return step  # type: ignore[no-any-return]


def _memory(step: Step, state: AgentState, context: Context, outcome: _Outcome) -> dict[str, Any]:
    """The step's traces in short-term and long-term memory."""
    key = step["subtask"]
    update: dict[str, Any] = {}
    if context.short_term_memory:
        memory = memory_of(state, key)
        if outcome.finished:
            update["short_term"] = {key: None}
        elif "foresight" in step:
            reflected = {"n": step["n"], "text": step["foresight"]["reflection"]}
            reflections = [*memory.get("reflections", []), reflected]
            update["short_term"] = {key: {**memory, "reflections": reflections}}
        elif not step["ok"]:
            names = ("n", "tool", "arguments", "cause", "action", "origin")
            failure = {name: value for name, value in step.items() if name in names}
            failures = [*memory["failures"], {**failure, "error": step["observation"]}]
            update["short_term"] = {key: {**memory, "failures": failures}}
    if context.long_term_memory and not step["ok"]:
        error = cut(step["observation"], 600)
        failure = {"subtask": key, "tool": step["tool"], "cause": step["cause"], "error": error}
        record = {"round": step["round"], "failures": {str(step["n"]): failure}}
        update["long_term"] = {str(step["round"]): record}
    return update


def _text_of_result(proposal: Proposal, outcome: _Outcome, *, asked: bool) -> str:
    """What those who build on the subtask see. A person's answer says little without the question."""
    if proposal["action"] == "finish":
        return proposal["result"]
    if asked:
        said = next((value for value in proposal["arguments"].values() if isinstance(value, str)), "")
        return f"Asked: {said}\nAnswered: {outcome.observation.text}"
    return outcome.observation.text
