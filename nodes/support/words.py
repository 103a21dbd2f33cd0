"""The person's own words in a thread, and the plans that they approved."""

from __future__ import annotations

from collections.abc import Mapping

from forethought.nodes.support.origins import influence, thread_steps
from forethought.nodes.support.prompt_text import compact
from forethought.nodes.support.questions import NO_REASON, REJECTED
from forethought.state.agent import AgentState, Plan, Step
from forethought.text import one_line
from forethought.tools.base import Tool


def words_of(state: AgentState, tools: Mapping[str, Tool]) -> list[str]:
    """The person's tasks, messages, guidance and answers, in this order."""
    progress = state.get("progress", {})
    said = [str(message.text) for message in state.get("messages", []) if message.type == "human"]
    tasks = [*(item["task"] for item in progress.get("earlier", [])), state.get("task") or ""]
    texts = [*(task for task in tasks[:-1] if task not in said), *said]
    texts += [tasks[-1]] if tasks[-1] not in said else []
    texts += [*(state.get("guidance") or []), progress.get("rejection") or ""]
    new = [step for step in thread_steps(state) if step["n"] > progress.get("base_n", 0)]
    texts += [text for step in new if (text := _said_in(step, tools))]
    return [text for text in texts if text.strip()]


def _said_in(step: Step, tools: Mapping[str, Tool]) -> str:
    """The person's own words in a step: the reason of a rejection, or an answer that is no choice of the
    agent's; '' if there are none."""
    tool, text = tools.get(step["tool"] or ""), str(step["observation"])
    if step["cause"] == "rejected":
        reason = text.removeprefix(REJECTED)
        return "" if reason in (text, NO_REASON) else reason
    answer = text.removeprefix(f"[{step.get('note')}]\n")
    asks = tool is not None and tool.asks_person and step["ok"]
    return answer if asks and answer not in (step["arguments"].get("choices") or ()) else ""


def approved_lines(plan: Plan, state: AgentState, tools: Mapping[str, Tool]) -> list[str]:
    """The lines that the channel `foreseen` lacks of a plan: a subtask and its first call in each.

    Only a plan counts that the person approved or edited, and that no outside text can have influenced.
    """
    if plan.get("approval") not in ("approved", "edited") or influence(state, tools).outside:
        return []
    lines = {
        f"{one_line(item['description'])} {compact(item.get('call') or {})}" for item in plan["subtasks"]
    }
    return sorted(lines - {*state.get("foreseen", [])})
