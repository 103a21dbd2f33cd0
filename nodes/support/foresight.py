"""Foresight: what was expected against what came (SAMULE 3.2.3, Algorithm 2).

By rules: the agent puts in double quotes what must literally occur in the observation; what does not occur
deviates. A deviation cancels `finishes`, so that the agent looks at the observation itself, and judges in its
next reply how serious it is.

By a model, which compares and reflects where the deviation is significant. Departures from the paper: one
call compares and reflects, where the paper's two would ask the same model with the same text; and it is made
only where rules cannot tell and it matters. For a tool's answer that is with `foresight_judgement` on, where
the call claims to finish its subtask, so that nobody would look at the answer again. For a person's words,
which rules can seldom compare, it is whenever they are foreseen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from forethought.models.allowance import Allowance
from forethought.models.types import Usage, no_usage, reply_spec
from forethought.nodes.support.plan_text import subtask_text
from forethought.nodes.support.prompt_text import Reader, call_text, steps_text, trajectory
from forethought.nodes.support.services import Turn
from forethought.prompts.render import prompt_messages
from forethought.prompts.replies import ForesightVerdict
from forethought.state.agent import AgentState, Deviation, Proposal, Surprise
from forethought.text import cut, plain
from forethought.tools.base import Observation, Tool

_QUOTED = re.compile(r'"([^"\n]{1,200})"|“([^”\n]{1,200})”')
_LEVELS: dict[str, Surprise] = {"none": "none", "minor": "minor", "significant": "serious"}
_FORMER_TASK_CHARS = 2_000


@dataclass(frozen=True)
class Finding:
    """What a comparison came to."""

    surprise: Surprise = "none"
    note: str = ""
    """For the step's observation; '' if there is nothing to note."""
    reflection: str = ""
    """Where the deviation is significant; '' else."""
    replan: bool = False
    by: Literal["rules", "model"] = "rules"
    usage: Usage = field(default_factory=no_usage)

    def deviation(self, proposal: Proposal) -> Deviation | None:
        """The step's record of a significant deviation."""
        if not self.reflection:
            return None
        return {
            "by": self.by,
            "difference": self.note,
            "reflection": self.reflection,
            "replan": self.replan,
            "before": proposal["surprise"],
        }


def quoted_terms(expected: str) -> list[str]:
    """What `expected` has in double quotes."""
    return [term for pair in _QUOTED.findall(expected) if (term := pair[0] or pair[1]).strip()]


def missing_terms(expected: str, text: str) -> list[str]:
    """The quoted terms of `expected` that do not occur in `text`; case, spacing and Unicode form do not
    matter."""
    came = plain(text)
    return [term for term in quoted_terms(expected) if plain(term) and plain(term) not in came]


def compare(expected: str, observation: Observation) -> Finding:
    """What rules find: a failure or a missing term is a minor surprise."""
    if not observation.ok:
        return Finding("minor")
    missing = missing_terms(expected, observation.text)
    if missing:
        return Finding(
            "minor", f"Expected, but not in what came: {', '.join(repr(term) for term in missing)}."
        )
    return Finding()


def as_expected(expected: str, said: str) -> bool:
    """Whether a person said what was expected, as far as rules can tell: the same words, or every quoted
    term.

    False means that it takes a model to tell.
    """
    terms = quoted_terms(expected)
    alike = plain(expected).strip(" .!\"'") == plain(said).strip(" .!\"'")
    return alike or (bool(terms) and not missing_terms(expected, said))


@dataclass(frozen=True)
class ForesightModel:
    """Compares for one node of one run, by rules and where they cannot tell by a model."""

    turn: Turn
    allowance: Allowance

    async def call(
        self, tool: Tool, proposal: Proposal, observation: Observation, state: AgentState
    ) -> Finding:
        """What a call's observation is against what was expected of it. Raises ReplayError."""
        context, expected = self.turn.context, proposal["expected"]
        asks_model, of_person = False, tool.asks_person and context.foresees_user
        finding = Finding(proposal["surprise"])
        if of_person:
            asks_model = bool(observation.ok and expected and not as_expected(expected, observation.text))
        elif context.foresees_tools:
            finding = compare(expected, observation)
            unseen = observation.ok and proposal["finishes"] and not observation.partial
            undecided = bool(expected) and not quoted_terms(expected) and not finding.note
            asks_model = context.foresight_judgement and unseen and undecided
        if asks_model:
            finding = await self._judge(proposal, observation, state, user=of_person)
        # The agent's own serious surprise at what it saw before is not lost.
        return replace(finding, surprise="serious") if proposal["surprise"] == "serious" else finding

    async def next_message(self, expected: str, answer: str, state: AgentState) -> Finding:
        """What a person's new message is against what was foreseen when the task before was answered."""
        message = state["task"]
        if not expected or as_expected(expected, message):
            return Finding()
        former = state["progress"]["earlier"][-1:]
        move = f"The agent answered: {cut(answer, _FORMER_TASK_CHARS)}"
        task = former[0]["task"] if former else message
        return await self._ask("planner", {}, task=task, move=move, expected=expected, came=message)

    async def _judge(
        self, proposal: Proposal, observation: Observation, state: AgentState, *, user: bool
    ) -> Finding:
        if self.allowance.spent():
            return Finding()
        key = proposal["subtask"]
        subtask = next(item for item in state["plan"]["subtasks"] if item["id"] == key)
        mine = [step for step in trajectory(state) if step["subtask"] == key]
        return await self._ask(
            "tool",
            {"subtask": key, "n": proposal["n"]},
            task=state["task"],
            subtask=subtask_text(subtask),
            steps=steps_text(mine, reader=Reader(self.turn.context.sizes)),
            move=call_text(proposal),
            expected=proposal["expected"],
            came=observation.text,
            origin=observation.origin,
            user=user,
        )

    async def _ask(
        self,
        role: str,
        details: Mapping[str, Any],
        *,
        came: str,
        subtask: str = "",
        steps: str = "",
        origin: str = "user",
        user: bool = True,
        **values: str,
    ) -> Finding:
        """The model's finding. A model that gives none has failed, not the step: nothing is found then."""
        fields = {"subtask": subtask, "steps": steps, "origin": origin, "user": user, **values}
        result = await self.turn.ask(
            role,
            prompt_messages("foresight", came=came, **fields),
            reply_spec(ForesightVerdict),
            self.allowance,
            lenient=True,
            event={"about": "foresight", **details},
        )
        verdict = result.reply
        if verdict is None:
            return Finding(usage=result.usage)
        significant = verdict.deviation == "significant"
        return Finding(
            _LEVELS[verdict.deviation],
            f"Not as expected: {verdict.difference}" if significant else "",
            verdict.reflection if significant else "",
            verdict.replan,
            "model",
            result.usage,
        )
