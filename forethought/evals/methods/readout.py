"""What a finished thread of our agent tells of its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig

from forethought.graph.agent import AgentGraph

Json = dict[str, Any]


@dataclass
class Readout:
    """A run as its thread's checkpoints hold it."""

    values: Json
    """The state at its end."""
    plans: list[Json] = field(default_factory=list)
    """All plans, in order."""
    self_scores: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def answer(self) -> str:
        """The answer, or the best draft of a run that was stopped."""
        return str(self.values.get("answer") or self.values.get("draft", {}).get("answer") or "")

    @property
    def status(self) -> str:
        """As the agent says it."""
        return str(self.values.get("status") or "failed")

    @property
    def refused(self) -> str:
        """Why the task was not taken on ('' if it was)."""
        return str(self.values.get("progress", {}).get("refused") or "")

    @property
    def rounds(self) -> int:
        """Rounds begun."""
        return int(self.values.get("progress", {}).get("round", 1))

    @property
    def plan_errors(self) -> list[list[str]]:
        """The error types found in each plan that was diagnosed (PreFlect figure 4)."""
        reviews = self.values.get("plan_reviews") or []
        return [[error["error_type"] for error in item["errors"]] for item in reviews if not item["skipped"]]


async def read_out(graph: AgentGraph, config: RunnableConfig) -> Readout:
    """Read a thread, its earlier checkpoints included: the state alone holds no replaced plan or draft."""
    history = [snapshot.values async for snapshot in graph.aget_state_history(config)][::-1]
    readout = Readout(dict(history[-1]) if history else {})
    readout.plans = list(
        {item["plan"]["version"]: item["plan"] for item in history if item.get("plan")}.values()
    )
    best = {item["draft"]["round"]: item["draft"] for item in history if item.get("draft", {}).get("answer")}
    scores = {
        "planner": _planner_scores(history),
        "tool": _tool_scores(history),
        "answer": _answer_scores(readout.values, best),
    }
    readout.self_scores = {role: given for role, given in scores.items() if given}
    return readout


def _planner_scores(history: Sequence[Json]) -> list[float]:
    """Of each plan as the planner handed it on; the reflector's revisions are not scored."""
    scores: dict[int, float] = {}
    for values in history:
        plan = values.get("plan") or {}
        if plan.get("score") and not plan.get("reviewed"):
            scores.setdefault(plan["n"], float(plan["score"]))
    return list(scores.values())


def _tool_scores(history: Sequence[Json]) -> list[float]:
    """Of each move that was proposed, those included that scored too low to be made."""
    by_step: dict[int, list[float]] = {}
    for values in history:
        for proposal in (values.get("proposals") or {}).values():
            scores = [*(item["score"] for item in proposal["rejected"]), proposal["score"]]
            by_step[proposal["n"]] = [float(score) for score in scores if score]
    return [score for n in sorted(by_step) for score in by_step[n]]


def _answer_scores(values: Mapping[str, Any], best: Mapping[int, Json]) -> list[float]:
    """Of each round's draft, as far as it was kept."""
    scores = {number: draft["score"] for number, draft in best.items()}
    scores |= {
        item["round"]: item["score"] for item in (values.get("long_term") or {}).values() if "score" in item
    }
    return [float(scores[number]) for number in sorted(scores) if scores[number]]
