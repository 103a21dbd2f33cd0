"""tool_agent: one move for one subtask, scored by its own author before it is made (MIRROR 3.3 to 3.5).

Departures from MIRROR: after the revisions the best-scored proposal is tried if it scores `tool_floor` or
more, and otherwise the turn is a failed attempt that is named, where the paper's code drops the subtask; the
agent may ask for a new plan (PreFlect 3.3) and says what it expects to see (SAMULE 3.2.3).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from forethought.models.allowance import total
from forethought.models.types import Message, ReplyError, Usage, no_usage
from forethought.nodes.support.budget import allowance, exhausted_calls, left_text
from forethought.nodes.support.events import thinking
from forethought.nodes.support.prompt_text import (
    files_text,
    memory_items,
    result_items,
    step_items,
    subtask_text,
    trajectory,
)
from forethought.nodes.support.reading import read_state
from forethought.nodes.support.services import Services
from forethought.prompts.render import render
from forethought.prompts.replies import ToolChoice
from forethought.prompts.tool_choice import ChoiceFields, tool_choice_spec
from forethought.state.agent import AgentState, Dispatch, Json, Proposal, ShortTerm, Subtask
from forethought.state.context import Context
from forethought.tools.base import Tool
from forethought.tools.call import check_arguments
from forethought.tools.registry import describe

READS = (
    "task",
    "files",
    "guidance",
    "plan",
    "results",
    "trajectory",
    "short_term",
    "progress",
    "usage",
    "dispatch",
)


@dataclass
class _Turn:
    """A turn's proposals so far."""

    best: ToolChoice | None = None
    rejected: list[ToolChoice] = field(default_factory=list)
    usage: Usage = field(default_factory=no_usage)
    revisions: int = 0
    problem: str = ""

    def take(self, choice: ToolChoice, *, passed: bool) -> bool:
        """Enter a proposal: one that passed is the best, of the others the one with the highest score."""
        if passed or self.best is None or choice.score >= self.best.score:
            self.best = choice
        if not passed:
            self.rejected.append(choice)
        return passed


async def tool_agent(
    dispatch: Dispatch, runtime: Runtime[Context], config: RunnableConfig, *, services: Services
) -> dict[str, Any]:
    """Propose one move. It always hands on to tool_executor, also when it failed, so that the wave stays
    aligned."""
    started = time.monotonic()
    context = services.context(runtime)
    await services.ready()
    state = read_state(config, READS)
    subtask = subtask_of(state, dispatch["subtask"])
    messages, shown = tool_messages(state, subtask, services, context)
    turn = _Turn()
    await _propose(turn, messages, state, runtime, services, context, dispatch)
    proposal = _proposal(turn, dispatch, services, context)
    proposal["shown"] = shown
    proposal["seconds"] = round(time.monotonic() - started, 3)
    update: dict[str, Any] = {"proposals": {dispatch["subtask"]: proposal}, "usage": {"tool": turn.usage}}
    if proposal["rejected"] and context.short_term_memory:
        memory = memory_of(state, dispatch["subtask"])
        rejected = [{**item, "n": dispatch["n"]} for item in proposal["rejected"]]
        update["short_term"] = {dispatch["subtask"]: {**memory, "rejected": [*memory["rejected"], *rejected]}}
    return update


def subtask_of(state: AgentState, key: str) -> Subtask:
    """The subtask `key` of the plan in force."""
    return {subtask["id"]: subtask for subtask in state["plan"]["subtasks"]}[key]


def memory_of(state: AgentState, key: str) -> ShortTerm:
    """The short-term memory of the subtask `key`, empty if there is none."""
    return state.get("short_term", {}).get(key) or {"rejected": [], "failures": [], "attempts": 0}


def choice_fields(context: Context) -> ChoiceFields:
    """Which parts of the reply this run's switches leave in."""
    return ChoiceFields(
        intra=context.tool_intra,
        replanning=context.replanning,
        foresight=context.foresees_tools,
        asking=context.foresees_user,
    )


async def _propose(
    turn: _Turn,
    messages: list[Message],
    state: AgentState,
    runtime: Runtime[Context],
    services: Services,
    context: Context,
    dispatch: Dispatch,
) -> None:
    """Ask, and ask again while the score is below the threshold and revisions are left; the best proposal is
    kept."""
    spec = tool_choice_spec(
        services.tools, choice_fields(context), functions=context.proposals == "functions"
    )
    allowed = allowance(state, context)
    while True:
        thinking(runtime, "tool", subtask=dispatch["subtask"], n=dispatch["n"], revision=turn.revisions)
        try:
            asked = await services.models.ask(
                role="tool",
                model=context.model_for("tool"),
                fallback=context.fallback_model,
                messages=messages,
                reply=spec,
                check=_checker(services.tools),
                allowance=allowed,
            )
        except ReplyError as error:
            turn.usage = total(turn.usage, error.usage)
            turn.problem = error.problem or str(error)
            return
        choice = asked.reply
        turn.usage = total(turn.usage, asked.usage)
        if turn.take(choice, passed=not context.tool_intra or choice.score >= context.tool_threshold):
            return
        if turn.revisions >= context.max_revisions or exhausted_calls(_with_wave(state, turn), context):
            return
        turn.revisions += 1
        _, text = render(
            "tool_revise", score=choice.score, threshold=context.tool_threshold, evaluation=choice.evaluation
        )
        messages = [*messages, Message("assistant", asked.text), Message("user", text)]


def _with_wave(state: AgentState, turn: _Turn) -> AgentState:
    """The state with what this turn has cost, for each subtask of the wave: siblings revise at the same time
    and cannot see each other's calls, so each must leave room for the others'."""
    width = max(len(state.get("dispatch", [])), 1)
    wave = total(*[turn.usage] * width)
    wave["seconds"] = turn.usage["seconds"]  # they pass for all of them at once
    # And for the next calls of all of them, which are begun together. Tokens grow with each turn's prompt.
    calls = max(turn.usage["calls"], 1)
    wave["usd"] += width * turn.usage["usd"] / calls
    wave["input_tokens"] += width * (turn.usage["input_tokens"] + turn.usage["output_tokens"]) // calls
    return {**state, "usage": {**state.get("usage", {}), "this wave": wave}}


def _checker(tools: Any) -> Callable[[ToolChoice], str | None]:
    def check(choice: ToolChoice) -> str | None:
        if choice.action == "finish":
            return None if choice.result else "action is finish, but result is empty"
        if choice.action == "replan":
            return None if choice.reason else "action is replan, but reason is empty"
        tool: Tool | None = tools.get(choice.tool or "")
        if tool is None:
            return f"there is no tool {choice.tool!r}; tools are: {', '.join(tools)}"
        return check_arguments(tool, choice.arguments)

    return check


def _proposal(turn: _Turn, dispatch: Dispatch, services: Services, context: Context) -> Proposal:
    choice = turn.best
    reason = ""
    if choice is None:
        reason = f"the tool agent gave no valid reply: {turn.problem}"
    elif context.tool_intra and choice.score < min(context.tool_threshold, context.tool_floor):
        reason = (
            f"no proposal was good enough: the best of {len(turn.rejected)} scored {choice.score}, "
            f"{context.tool_floor} is needed. {choice.evaluation}"
        )
    kept = choice or ToolChoice(action="finish")
    tool = services.tools.get(kept.tool or "")
    asks = tool is not None and tool.asks_person
    foresees = context.foresees_tools or (context.foresees_user and asks)
    return {
        "subtask": dispatch["subtask"],
        "n": dispatch["n"],
        "action": "none" if reason else kept.action,
        "thought": kept.thought,
        "tool": kept.tool,
        "arguments": kept.arguments,
        "finishes": kept.finishes,
        "result": kept.result,
        "reason": reason or kept.reason,
        "expected": kept.expected if foresees else "",
        "surprise": kept.surprise if context.foresees_tools else "none",
        "evaluation": kept.evaluation,
        "score": kept.score if choice and context.tool_intra else 0,
        "revisions": turn.revisions,
        "rejected": [_brief(item) for item in turn.rejected if reason or item is not choice],
        "shown": [],
        "seconds": 0.0,
        "usage": turn.usage,
    }


def _brief(choice: ToolChoice) -> Json:
    return {
        "action": choice.action,
        "tool": choice.tool,
        "arguments": choice.arguments,
        "finishes": choice.finishes,
        "evaluation": choice.evaluation,
        "score": choice.score,
    }


def tool_messages(
    state: AgentState, subtask: Subtask, services: Services, context: Context
) -> tuple[list[Message], list[str]]:
    """The prompt, and the ids of the results and memories shown in it. History is append-only; what is left
    comes last."""
    key = subtask["id"]
    memory = memory_items(state.get("short_term", {}).get(key)) if context.short_term_memory else []
    results = result_items(state.get("results", {}), subtask["depends_on"])
    steps = [step for step in trajectory(state) if step["subtask"] == key and step["ok"]]
    fields = choice_fields(context)
    system, user = render(
        "tool_agent",
        tools=describe(services.tools),
        intra=fields.intra,
        replanning=fields.replanning,
        foresight=fields.foresight,
        asking=fields.asking,
        functions=context.proposals == "functions",
        task=state["task"],
        files=files_text(state.get("files", [])),
        guidance=state.get("guidance", []),
        id=key,
        subtask=subtask_text(subtask),
        results=results,
        steps=step_items(steps),
        memory=[item["text"] for item in memory],
        left=left_text(state, context),
    )
    shown = [f"result:{item['id']}" for item in results] + [item["id"] for item in memory]
    return [Message("system", system), Message("user", user)], shown
