"""tool_executor: carries a proposal out and records the step, whatever became of it.

Whatever a tool does wrong is a failed step with its cause; only interrupts pass through, and a recording that
lacks a reply. A call (tool and
arguments) that failed in this task is never made a second time: a repeat asks for a new plan. Success clears
the subtask's short-term memory; a failure is added to it and to the round's record in long-term memory
(MIRROR 3.5).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from forethought.models.types import Usage, no_usage
from graph.context import Context
from graph.state import AgentState, Dispatch, Proposal, Step, Surprise
from nodes.digest import compact, cut, trajectory
from nodes.events import acting
from nodes.foresight import compare
from nodes.inspection import Inspection
from nodes.person import ask_person
from nodes.reading import read_state
from nodes.services import Services
from nodes.tool_agent import memory_of
from nodes.usage import total
from tools.base import Observation, Tool, ToolEnv
from tools.call import call_tool, normalise

READS = ("files", "plan", "proposals", "results", "trajectory", "short_term", "progress")


@dataclass(frozen=True)
class _Outcome:
    """What became of a proposal."""

    observation: Observation
    finished: bool
    surprise: Surprise = "none"


async def tool_executor(
    dispatch: Dispatch, runtime: Runtime[Context], config: RunnableConfig, *, services: Services
) -> dict[str, Any]:
    """Carry out the proposal of this wave for one subtask."""
    context = services.context(runtime)
    state = read_state(config, READS)
    proposal = state["proposals"][dispatch["subtask"]]
    inspection = Inspection(services, context)
    started = time.monotonic()
    if proposal["action"] == "call":
        outcome = await _call(proposal, state, runtime, services, context, inspection)
    else:
        outcome = _no_call(proposal)
    waited = proposal["tool"] == "ask_user"
    seconds = proposal["seconds"] + (0.0 if waited else time.monotonic() - started)
    step = _step(proposal, outcome, state, seconds, total(proposal["usage"], *inspection.spent))
    update: dict[str, Any] = {"trajectory": [step], **_memory(step, state, context, outcome)}
    if inspection.spent:
        update["usage"] = {"inspector": total(*inspection.spent)}
    if outcome.finished:
        origin = _origin_of_result(proposal, outcome, state)
        text = proposal["result"] if proposal["action"] == "finish" else outcome.observation.text
        update["results"] = {dispatch["subtask"]: {"n": dispatch["n"], "text": text, "origin": origin}}
    return update


def _no_call(proposal: Proposal) -> _Outcome:
    if proposal["action"] == "finish":
        return _Outcome(Observation(proposal["result"], origin="model"), True, proposal["surprise"])
    cause = "replan" if proposal["action"] == "replan" else "proposal"
    return _Outcome(
        Observation(proposal["reason"], ok=False, cause=cause, origin="model"), False, proposal["surprise"]
    )


async def _call(
    proposal: Proposal,
    state: AgentState,
    runtime: Runtime[Context],
    services: Services,
    context: Context,
    inspection: Inspection,
) -> _Outcome:
    tool = services.tools.get(proposal["tool"] or "")
    if tool is None:  # a proposal edited by hand, or made when there were other tools
        gone = f"there is no tool {proposal['tool']!r}; tools are: {', '.join(services.tools)}"
        return _Outcome(Observation(gone, ok=False, cause="arguments", origin="model"), False)
    repeated = _repeated(tool, proposal, state)
    if repeated:
        text = (
            f"Not called: the same call failed at step {repeated['n']} ({repeated['cause']}): "
            f"{cut(repeated['observation'], 800)}"
        )
        return _Outcome(
            Observation(text, ok=False, cause="repeat", origin=f"tool:{tool.name}"),
            False,
            proposal["surprise"],
        )
    acting(
        runtime, n=proposal["n"], subtask=proposal["subtask"], tool=tool.name, arguments=proposal["arguments"]
    )
    env = _environment(proposal, state, services, inspection)
    observation = await call_tool(tool, proposal["arguments"], env)
    if inspection.missing:
        raise inspection.missing
    surprise: Surprise = proposal["surprise"]
    note = ""
    if context.foresight != "off":
        found, note = compare(proposal["expected"], observation)
        surprise = "serious" if surprise == "serious" else found
    if note:
        observation = replace(observation, text=f"[{note}]\n{observation.text}")
    finished = observation.ok and proposal["finishes"] and not note and not observation.partial
    return _Outcome(observation, finished, surprise)


def _repeated(tool: Tool, proposal: Proposal, state: AgentState) -> Step | None:
    """The earlier failed step of this task with the same tool and arguments. Transport failures of tools that
    may be called again do not count."""
    same = compact(normalise(tool, proposal["arguments"]))
    for step in trajectory(state):
        if step["ok"] or step["action"] != "call" or step["tool"] != tool.name or step["cause"] == "repeat":
            continue
        if tool.retryable and step["cause"] in ("transport", "timeout"):
            continue
        if compact(normalise(tool, step["arguments"])) == same:
            return step
    return None


def _environment(
    proposal: Proposal, state: AgentState, services: Services, inspection: Inspection
) -> ToolEnv:
    return ToolEnv(
        settings=services.settings,
        files={item["name"]: item["hash"] for item in state.get("files", []) if not isinstance(item, str)},
        results={key: result["text"] for key, result in state.get("results", {}).items()},
        origins={key: result["origin"] for key, result in state.get("results", {}).items()},
        store=services.store,
        inspect=inspection,
        ask=lambda question, choices: ask_person(proposal["subtask"], proposal["n"], question, choices),
    )


def _step(proposal: Proposal, outcome: _Outcome, state: AgentState, seconds: float, usage: Usage) -> Step:
    progress, observation = state["progress"], outcome.observation
    text = observation.text + (f"\nHint: {observation.hint}" if observation.hint else "")
    return {
        "n": proposal["n"],
        "task": progress["task"],
        "round": progress["round"],
        "plan_version": state["plan"]["version"],
        "wave": progress["waves"],
        "subtask": proposal["subtask"],
        "thought": proposal["thought"],
        "action": proposal["action"],
        "tool": proposal["tool"],
        "arguments": proposal["arguments"],
        "score": proposal["score"],
        "evaluation": proposal["evaluation"],
        "expected": proposal["expected"],
        "observation": text,
        "ok": observation.ok,
        "finished": outcome.finished,
        "cause": observation.cause,
        "surprise": outcome.surprise,
        "origin": observation.origin,
        "sub_steps": [],
        "shown": proposal["shown"],
        "seconds": round(seconds, 3),
        "usage": usage or no_usage(),
    }


def _memory(step: Step, state: AgentState, context: Context, outcome: _Outcome) -> dict[str, Any]:
    """The step's traces in short-term and long-term memory."""
    key = step["subtask"]
    update: dict[str, Any] = {}
    if context.short_term_memory:
        if outcome.finished:
            update["short_term"] = {key: None}
        elif not step["ok"]:
            memory = memory_of(state, key)
            failure = {
                "n": step["n"],
                "tool": step["tool"],
                "arguments": step["arguments"],
                "cause": step["cause"],
                "action": step["action"],
                "error": step["observation"],
            }
            update["short_term"] = {
                key: {
                    **memory,
                    "failures": [*memory["failures"], failure],
                    "attempts": memory["attempts"] + 1,
                }
            }
    if context.long_term_memory and not step["ok"]:
        failure = {
            "subtask": key,
            "tool": step["tool"],
            "cause": step["cause"],
            "error": cut(step["observation"], 600),
        }
        record = {"round": step["round"], "failures": {str(step["n"]): failure}}
        update["long_term"] = {str(step["round"]): record}
    return update


def _origin_of_result(proposal: Proposal, outcome: _Outcome, state: AgentState) -> str:
    """Where a result comes from: what it was made of, so that an outside origin is not lost on the way."""
    if proposal["action"] == "call":
        return outcome.observation.origin
    subtask = next(item for item in state["plan"]["subtasks"] if item["id"] == proposal["subtask"])
    origins = [
        step["origin"] for step in trajectory(state) if step["subtask"] == proposal["subtask"] and step["ok"]
    ]
    origins += [
        state["results"][key]["origin"] for key in subtask["depends_on"] if key in state.get("results", {})
    ]
    parts = [part for origin in origins for part in origin.split(", ") if part != "model"]
    return ", ".join(dict.fromkeys(parts)) or "model"
