"""Foresight where rules cannot tell: a model compares, and reflects where the deviation is significant
(SAMULE 3.2.3, Algorithm 2).

Departures from the paper: one call compares and reflects, where the paper's two would ask the same model with
the same text; and it is made only where it matters. For a tool's answer that is with `foresight_judgement`
on, where the call claims to finish its subtask, so that nobody would look at the answer again. For a person's
words, which rules can seldom compare, it is whenever they are foreseen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from langgraph.runtime import Runtime

from forethought.models.allowance import Allowance, total
from forethought.models.types import Message, ModelError, ReplayError, Usage, reply_spec
from forethought.nodes.support.events import thinking
from forethought.nodes.support.foresight import Finding, as_expected, by_rules, quoted_terms
from forethought.nodes.support.prompt_text import (
    OBSERVATION_CHARS,
    call_text,
    steps_text,
    subtask_text,
    trajectory,
)
from forethought.nodes.support.services import Services
from forethought.nodes.support.shapes import comparable
from forethought.prompts.render import render
from forethought.prompts.replies import ForesightVerdict
from forethought.state.agent import AgentState, Proposal, Step, Surprise
from forethought.state.context import Context, Role
from forethought.text import cut
from forethought.tools.base import Observation, Tool

_LEVELS: dict[str, Surprise] = {"none": "none", "minor": "minor", "significant": "serious"}
_FORMER_TASK_CHARS = 2_000


@dataclass(frozen=True)
class Judge:
    """Compares for one node of one run."""

    runtime: Runtime[Context]
    services: Services
    context: Context
    allowance: Allowance

    async def call(
        self, tool: Tool, proposal: Proposal, observation: Observation, state: AgentState
    ) -> Finding:
        """What a call's observation is against what was expected of it. Raises ReplayError."""
        if tool.asks_person and self.context.foresees_user:
            return await self._answer(proposal, observation, state)
        if not self.context.foresees_tools:
            return Finding(proposal["surprise"])
        earlier = _earlier_answers(tool, state) if comparable(tool) else []
        found = by_rules(proposal["expected"], observation, earlier)
        unseen = observation.ok and proposal["finishes"] and not observation.partial
        undecided = proposal["expected"] and not quoted_terms(proposal["expected"]) and not found.note
        if self.context.foresight_judgement and unseen and undecided:
            found = await self._judge(proposal, observation, state, user=False)
        return _serious_stays(proposal, found)

    async def next_message(self, expected: str, answer: str, state: AgentState) -> Finding:
        """What a person's new message is against what was foreseen when the task before was answered."""
        said = state["task"]
        if not expected or as_expected(expected, said):
            return Finding()
        former = state["progress"]["earlier"][-1:]
        values = {
            "task": former[0]["task"] if former else said,
            "subtask": "",
            "steps": "",
            "move": f"The agent answered: {cut(answer, _FORMER_TASK_CHARS)}",
            "expected": expected,
            "came": cut(said, OBSERVATION_CHARS),
            "origin": "user",
            "user": True,
        }
        return await self._ask("planner", values, {})

    async def _answer(self, proposal: Proposal, observation: Observation, state: AgentState) -> Finding:
        expected = proposal["expected"]
        if not observation.ok or not expected or as_expected(expected, observation.text):
            return Finding(proposal["surprise"])
        return _serious_stays(proposal, await self._judge(proposal, observation, state, user=True))

    async def _judge(
        self, proposal: Proposal, observation: Observation, state: AgentState, *, user: bool
    ) -> Finding:
        if self.allowance.spent():
            return Finding()
        subtask = next(item for item in state["plan"]["subtasks"] if item["id"] == proposal["subtask"])
        before = [step for step in trajectory(state) if step["subtask"] == proposal["subtask"]]
        values = {
            "task": state["task"],
            "subtask": subtask_text(subtask),
            "steps": steps_text(before),
            "move": call_text(proposal),
            "expected": proposal["expected"],
            "came": cut(observation.text, OBSERVATION_CHARS),
            "origin": observation.origin,
            "user": user,
        }
        return await self._ask("tool", values, {"subtask": proposal["subtask"], "n": proposal["n"]})

    async def _ask(self, role: Role, values: dict[str, object], details: dict[str, object]) -> Finding:
        """The model's finding. A model that gives none has failed, not the step: nothing is found then.

        Only a recording that lacks the reply is raised (ReplayError): it would be lost otherwise.
        """
        system, user = render("foresight", **values)
        thinking(self.runtime, role, about="foresight", **details)
        try:
            asked = await self.services.models.ask(
                role=role,
                model=self.context.model_for(role),
                fallback=self.context.fallback_model,
                messages=[Message("system", system), Message("user", user)],
                reply=reply_spec(ForesightVerdict),
                allowance=self.allowance,
            )
        except ReplayError:
            raise
        except ModelError as error:
            return Finding(usage=error.usage)
        return _finding(asked.reply, asked.usage)


def _finding(verdict: ForesightVerdict, usage: Usage) -> Finding:
    significant = verdict.deviation == "significant"
    return Finding(
        _LEVELS[verdict.deviation],
        f"Not as expected: {verdict.difference}" if significant else "",
        verdict.reflection if significant else "",
        verdict.replan,
        "model",
        usage,
    )


def _serious_stays(proposal: Proposal, found: Finding) -> Finding:
    """The agent's own serious surprise at what it saw before is not lost."""
    return replace(found, surprise="serious") if proposal["surprise"] == "serious" else found


def _earlier_answers(tool: Tool, state: AgentState) -> list[str]:
    """What the tool has answered in this task, oldest first."""
    return [_bare(step) for step in trajectory(state) if step["tool"] == tool.name and step["ok"]]


def _bare(step: Step) -> str:
    """A step's observation as it came, without the note of an earlier comparison."""
    text = step["observation"]
    if text.startswith("[") and (step["surprise"] != "none"):
        head, mark, rest = text.partition("]\n")
        noted = head.startswith(("[Expected, but not", "[Not as"))
        return rest if mark and noted else text
    return text


def spent_by(found: Finding) -> list[Usage]:
    """The finding's cost, if there is one."""
    return [total(found.usage)] if found.usage.get("calls") else []
