"""One try at a sample as part of a graph: think, act, look, until an answer or a limit (ReAct, Yao et al.
2023).

begin -> think -> act -> think ... -> close

Departures from the paper: thought and action are one structured reply, without examples of other tasks; what
ends by a limit is asked for an answer from what there is, within a reserve, as our own agent does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from langgraph.graph import START, StateGraph

from forethought.evals.baselines.bench import Bench
from forethought.evals.baselines.state import Limits, Move, State, Try, moves_of
from forethought.evals.baselines.transcript import shown
from forethought.evals.prompts.baseline_replies import ClosingAnswer, ReactMove, react_spec
from forethought.evals.toolset import opening
from forethought.evals.types import BudgetSpent
from forethought.models.types import ReplyError, reply_spec
from forethought.tools.call import check_arguments
from forethought.tools.registry import describe

MOST_UNUSABLE = 3
"""Consecutive turns without a usable reply, each repaired twice, after which a try ends."""
Graph = StateGraph[State, None, State, State]
Share = Callable[[int, Bench], Limits]
"""The limits of a try, by its number."""


def everything(number: int, bench: Bench) -> Limits:
    """All that is left."""
    return bench.limits()


def new_graph(
    bench: Bench, share: Share = everything, entry: str = "think", finished: str = "close"
) -> Graph:
    """A graph with the nodes of a try. `entry` comes after `begin`, `finished` after an action that finishes;
    what follows `close` is the caller's."""
    graph: Graph = StateGraph(State)
    graph.add_node("begin", partial(begin, bench=bench, share=share))
    graph.add_node("think", partial(think, bench=bench))
    graph.add_node("act", partial(act, bench=bench))
    graph.add_node("close", partial(close, bench=bench))
    graph.add_edge(START, "begin")
    graph.add_edge("begin", entry)
    graph.add_conditional_edges("think", after_think, ["act", "close"])
    graph.add_conditional_edges(
        "act", partial(after_act, finished=finished), sorted({"think", "close", finished})
    )
    return graph


def after_think(state: State) -> str:
    """A try that a limit ended is closed."""
    return "close" if state["ended"] else "act"


def after_act(state: State, finished: str = "close") -> str:
    """On with the next thought, unless the try has ended."""
    return {"": "think", "answered": finished}.get(state["ended"], "close")


async def begin(state: State, *, bench: Bench, share: Share) -> dict[str, Any]:
    """Reset the world and set the try's limits."""
    number = state.get("number", 0) + 1
    first = await bench.tools.begin()
    return {
        "number": number,
        "task": opening(bench.trial.sample.task, first),
        "limits": share(number, bench),
        "ended": "",
        "answer": "",
        "plan": {},
    }


async def think(state: State, *, bench: Bench) -> dict[str, Any]:
    """Ask for one move."""
    if why := bench.spent(state):
        return {"ended": why}
    try:
        view = _view(state, bench)
        spec = react_spec(bench.offered, view["thoughts"])
        move = await bench.ask("react", spec, _checker(bench), **view)
    except BudgetSpent:
        return {"ended": "tokens"}
    except ReplyError as error:
        problem = error.problem or str(error)
        return {"proposal": {"action": "none", "observation": f"There was no usable reply: {problem}"}}
    return {"proposal": move.model_dump()}


async def act(state: State, *, bench: Bench) -> dict[str, Any]:
    """Make the move and look at what came of it. Raises InfrastructureError."""
    proposal, n = state["proposal"], len(state.get("moves", [])) + 1
    move = Move(
        n=n,
        attempt=state["number"],
        thought=proposal.get("thought", ""),
        action=proposal["action"],
        tool=proposal.get("tool") or "",
        arguments=proposal.get("arguments", {}),
        answer=proposal.get("answer", ""),
        observation=proposal.get("observation", ""),
        ok=proposal["action"] != "none",
        cause="" if proposal["action"] != "none" else "proposal",
    )
    if move["action"] == "finish":
        return {"moves": [move], "ended": "answered", "answer": move["answer"]}
    if move["action"] == "none":
        return {"moves": [move], "ended": _unusable(state)}
    came = await bench.call(move["tool"], move["arguments"], n)
    text = came.text + (f"\nHint: {came.hint}" if came.hint else "")
    move = {**move, "observation": text, "ok": came.ok, "cause": came.cause}
    return {"moves": [move], "ended": "over" if bench.tools.done else ""}


def _unusable(state: State) -> str:
    """An unusable reply is no call, and as with our agent costs no step; several in a row end the try."""
    last = moves_of(state)[-(MOST_UNUSABLE - 1) :]
    broke_off = len(last) == MOST_UNUSABLE - 1 and all(move["action"] == "none" for move in last)
    return "no_reply" if broke_off else ""


async def close(state: State, *, bench: Bench) -> dict[str, Any]:
    """End the try: with its answer, or the best that what there is allows; the world has the last word."""
    answer = state["answer"]
    if state["ended"] not in ("answered", "over") and not bench.tools.acts_in_text:
        answer = await _closing_answer(state, bench)
    reward = await bench.tools.finish(answer)
    attempt = Try(
        number=state["number"], answer=answer, ended=state["ended"], reward=reward, solved=None, verdict=""
    )
    tried = [*state.get("tried", []), attempt]
    return {"answer": answer, "tried": tried, "chosen": last_of(tried, bench)}


def last_of(tried: Sequence[Try], bench: Bench) -> int:
    """The last try; where an answer is all that counts, the last that has one."""
    answered = [item["number"] for item in tried if item["answer"] or bench.tools.episode is not None]
    return (answered or [tried[-1]["number"]])[-1]


async def _closing_answer(state: State, bench: Bench) -> str:
    plan = state.get("plan", {})
    try:
        reply = await bench.ask(
            "answer",
            reply_spec(ClosingAnswer),
            task=state["task"],
            plan=plan_text(state) if plan.get("versions") else "",
            **shown(moves_of(state)),
        )
    except (BudgetSpent, ReplyError):
        return ""
    return reply.answer


def plan_text(state: State) -> str:
    """The plan: what was done, with its results, and what is left."""
    plan = state.get("plan", {})
    done = [f"[done] {item['step']}\n  result: {item['result']}" for item in plan.get("done", [])]
    return "\n".join([*done, *(f"[open] {step}" for step in plan.get("steps", []))])


def _view(state: State, bench: Bench) -> dict[str, Any]:
    """What a move's prompt shows."""
    notes, steps = state.get("notes", {}), state.get("plan", {}).get("steps", [])
    names = ("insights", "examples", "errors", "reflections", "feedback")
    return {
        "calls": bool(bench.offered),
        "thoughts": not notes.get("act_only"),
        "planned": bool(steps),
        "tools": describe(bench.offered),
        "task": state["task"],
        **{name: notes.get(name, []) for name in names},
        "attempt": {**notes["attempt"], "number": state["number"]} if "attempt" in notes else None,
        "plan": plan_text(state) if steps else "",
        "current": steps[0] if steps else "",
        "left": bench.left(state),
        **shown(moves_of(state)),
    }


def _checker(bench: Bench) -> Callable[[ReactMove], str | None]:
    def check(move: ReactMove) -> str | None:
        if move.action == "finish":
            return (
                None if move.answer or bench.tools.acts_in_text else "action is finish, but answer is empty"
            )
        tool = bench.offered.get(move.tool or "")
        if tool is None:
            offered = ", ".join(bench.offered) or "none: finish"
            return f"there is no tool {move.tool!r}; tools are: {offered}"
        return check_arguments(tool, move.arguments)

    return check
