"""tool_agent: one move for one subtask, scored by its own author before it is made (MIRROR 3.3 to 3.5).

Departures from MIRROR: a call that the plan carries is made without asking a model; after the revisions the
best-scored proposal is tried if it scores `tool_floor` or more, and otherwise the turn is a failed attempt
that is named, where the paper's code drops the subtask; the agent may ask for a new plan (PreFlect 3.3) and
says what it expects to see (SAMULE 3.2.3).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from forethought.models.allowance import charged_tokens, total
from forethought.models.schema import drop_nulls, json_schema
from forethought.models.types import Message, Usage
from forethought.nodes.support.approval import ruling_on
from forethought.nodes.support.budget import allowance, exhausted, scarce_text
from forethought.nodes.support.effort import Moment, settle
from forethought.nodes.support.grants import read_grants
from forethought.nodes.support.intra_reflection import Revised, evaluation_of, revise_until, score_of
from forethought.nodes.support.memory_text import memory_items
from forethought.nodes.support.own_steps import own_steps
from forethought.nodes.support.plan_text import subtask_text, work_outline
from forethought.nodes.support.prompt_text import Reader, result_items, trajectory
from forethought.nodes.support.services import Services, Turn
from forethought.nodes.support.situation import situation
from forethought.nodes.support.state_reader import read_state
from forethought.nodes.support.tool_env import earlier_failure
from forethought.prompts.lean_replies import example_move
from forethought.prompts.render import prompt_messages
from forethought.prompts.replies import ToolChoice
from forethought.prompts.tool_choice import tool_choice_spec
from forethought.state.agent import AgentState, Dispatch, Json, Proposal, ShortTerm, Subtask
from forethought.state.context import Context
from forethought.tools.base import Tool
from forethought.tools.call import check_arguments
from forethought.tools.registry import describe

WAVE_CHANNELS = (
    "task", "files", "folders", "look", "guidance", "messages", "plan", "statuses", "proposals", "results",
    "trajectory", "short_term", "progress", "usage", "dispatch", "foreseen", "grants",
)  # fmt: skip
"""The parts of the state that a wave's nodes read."""


async def tool_agent(
    dispatch: Dispatch, runtime: Runtime[Context], config: RunnableConfig, *, services: Services
) -> dict[str, Any]:
    """Propose one move. It always hands on to tool_executor, also when it failed, so that the wave stays
    aligned."""
    started = time.monotonic()
    turn = await services.turn(runtime)
    state = read_state(config, WAVE_CHANNELS)
    subtask, skipped = subtask_of(state, dispatch["subtask"]), dict[str, Any]()
    planned = None if turn.context.tool_intra else _planned_call(state, subtask, services)
    if planned:
        revised, sources = Revised(best=planned), list[str]()
    else:
        turn, skipped = settle("tool_intra", turn, Moment(state, turn.context, services.tools, subtask))
        revised, sources = await _propose(state, dispatch, turn)
    seconds = round(time.monotonic() - started, 3)
    proposal = _proposal(revised, dispatch, turn, sources, seconds)
    if planned:
        proposal["score"] = 0
    update: dict[str, Any] = {
        "proposals": {dispatch["subtask"]: proposal},
        "usage": {"planned_calls": {"changed": 1}} if planned else revised.booked("tool", "tool_intra"),
        **skipped,
    }
    if proposal["rejected"] and turn.context.short_term_memory:
        memory = memory_of(state, dispatch["subtask"])
        rejected = [{**item, "n": dispatch["n"]} for item in proposal["rejected"]]
        update["short_term"] = {dispatch["subtask"]: {**memory, "rejected": [*memory["rejected"], *rejected]}}
    if proposal["action"] == "call" and (tool := services.tools.get(proposal["tool"] or "")):
        ruling = ruling_on(tool, proposal, state, services, turn.context)
        if ruling.decision == "grants":
            read = await read_grants(state, turn)
            update |= {**read, "usage": {**update["usage"], **read.get("usage", {})}}
    return update


def subtask_of(state: AgentState, key: str) -> Subtask:
    """The subtask `key` of the plan in force."""
    return {subtask["id"]: subtask for subtask in state["plan"]["subtasks"]}[key]


def memory_of(state: AgentState, key: str) -> ShortTerm:
    """The short-term memory of the subtask `key`, empty if there is none."""
    return state.get("short_term", {}).get(key) or {"rejected": [], "failures": []}


def _planned_call(state: AgentState, subtask: Subtask, services: Services) -> ToolChoice | None:
    """The call that the plan begins the subtask with; None where a model is to choose: the subtask has begun,
    guidance came after the plan, or the call cannot be made."""
    call, plan = subtask.get("call"), state["plan"]
    begun = any(step["subtask"] == subtask["id"] for step in trajectory(state))
    if not call or begun or state.get("guidance", []) != plan.get("guidance", []):
        return None
    tool = services.offered(state).get(call["tool"])
    if tool is None or not tool.only_fetches:
        return None
    arguments = drop_nulls(call["arguments"], json_schema(tool.arguments))
    if check_arguments(tool, arguments) or earlier_failure(tool, arguments, state):
        return None
    finishes = call.get("finishes", True)
    return ToolChoice(
        action="call",
        tool=tool.name,
        arguments=arguments,
        finishes=finishes,
        expected=subtask["expected"] if finishes else "",  # what the result should look like
    )


async def _propose(
    state: AgentState, dispatch: Dispatch, turn: Turn
) -> tuple[Revised[ToolChoice], list[str]]:
    """The best-scored proposal of at most 1 + max_revisions, and what its prompt showed."""
    context, tools = turn.context, turn.services.offered(state)
    messages, sources = tool_messages(state, subtask_of(state, dispatch["subtask"]), turn.services, context)
    width = max(len(state.get("dispatch", [])), 1)

    def may_revise(used: Usage) -> bool:
        return not exhausted(state, context, _of_wave(used, width), steps=False)

    revised = await revise_until(
        turn,
        "tool",
        messages,
        tool_choice_spec(tools, context),
        allowance(state, context),
        check=_checker(tools),
        threshold=context.tool_threshold if context.wants("tool_intra") else None,
        may_revise=may_revise,
        event=dispatch,
    )
    return revised, sources


def _of_wave(used: Usage, width: int) -> Usage:
    """What this turn has cost, for each subtask of the wave, and for the next call of each.

    Siblings revise at the same time and cannot see each other's calls, so each must leave room for the
    others'. Tokens grow with each turn's prompt.
    """
    calls = max(used["calls"], 1)
    wave = total(*[used] * width)
    wave["seconds"] = used["seconds"]  # they pass for all of them at once
    wave["usd"] += width * used["usd"] / calls
    wave["input_tokens"] += width * charged_tokens(used) // calls
    return wave


def _checker(tools: Mapping[str, Tool]) -> Callable[[ToolChoice], str | None]:
    def check(choice: ToolChoice) -> str | None:
        if choice.action == "finish":
            return None if choice.result else "action is finish, but result is empty"
        if choice.action == "replan":
            return None if choice.reason else "action is replan, but reason is empty"
        tool = tools.get(choice.tool or "")
        if tool is None:
            return f"there is no tool {choice.tool!r}; tools are: {', '.join(tools)}"
        return check_arguments(tool, choice.arguments)

    return check


def _proposal(
    revised: Revised[ToolChoice], dispatch: Dispatch, turn: Turn, shown: list[str], seconds: float
) -> Proposal:
    choice, context, reason = revised.best, turn.context, ""
    if choice is None:
        reason = f"no valid reply from the tool agent: {revised.problem}"
    elif context.wants("tool_intra") and score_of(choice) < min(context.tool_threshold, context.tool_floor):
        reason = (
            f"no proposal was good enough: the best of {len(revised.rejected)} scored "
            f"{score_of(choice)}, below the floor of {context.tool_floor}. {evaluation_of(choice)}"
        )
    best = choice or ToolChoice(action="finish")
    tool = turn.services.tools.get(best.tool or "")
    foresees = context.foresees_tools or (context.foresees_user and tool is not None and tool.asks_person)
    return {
        "subtask": dispatch["subtask"],
        "n": dispatch["n"],
        "action": "none" if reason else best.action,
        "thought": best.thought,
        "tool": best.tool,
        "arguments": best.arguments,
        "finishes": best.finishes,
        "result": best.result,
        "reason": reason or best.reason,
        "expected": best.expected if foresees else "",
        "surprise": best.surprise if context.foresees_tools else "none",
        "evaluation": evaluation_of(best),
        "score": score_of(best) if choice and context.wants("tool_intra") else 0,
        "revisions": revised.revisions,
        "rejected": [_brief(item) for item in revised.rejected if reason or item is not choice],
        "shown": shown,
        "seconds": seconds,
        "usage": revised.usage,
    }


def _brief(choice: ToolChoice) -> Json:
    move = choice.model_dump(include={"action", "tool", "arguments", "finishes"})
    return {**move, "evaluation": evaluation_of(choice), "score": score_of(choice)}


def _asking(tools: Mapping[str, Tool], context: Context) -> list[str]:
    """The tools whose answers are a person's words, where those are foreseen."""
    return [name for name, tool in tools.items() if tool.asks_person and context.foresees_user]


def tool_messages(
    state: AgentState, subtask: Subtask, services: Services, context: Context
) -> tuple[list[Message], list[str]]:
    """The prompt, and the ids of the results and memories shown in it. The plan's outline, the same for all
    its workers, precedes what is one's own; history is append-only."""
    key, history = subtask["id"], trajectory(state)
    short_term = state.get("short_term", {}).get(key) if context.short_term_memory else None
    memory = memory_items(short_term, context.sizes)
    reader = Reader(context.sizes, subtask_text(subtask), services.offered(state))
    results = result_items(state.get("results", {}), reader, history, subtask["depends_on"])
    earlier, steps = own_steps([step for step in history if step["subtask"] == key and step["ok"]], reader)
    messages = prompt_messages(
        context.styled("tool_agent"),
        example=example_move(services.offered(state)) if context.lean else {},
        full_tools=describe(services.offered(state)),
        intra=context.wants("tool_intra"),
        threshold=context.tool_threshold,
        replanning=context.replanning,
        foresight=context.foresees_tools,
        asking=_asking(services.offered(state), context),
        expects=context.foresight != "off",
        functions=context.proposals == "functions",
        **situation(state, services, context),
        outline=work_outline(state["plan"], context.sizes),
        id=key,
        subtask=subtask_text(subtask),
        results=results,
        earlier_steps=earlier,
        steps=steps,
        memory=[item["text"] for item in memory],
        left=scarce_text(state, context),
    )
    sources = [f"result:{item['id']}" for item in results] + [item["id"] for item in memory]
    return messages, sources
