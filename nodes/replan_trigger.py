"""replan_trigger: what happens next, decided after every wave without a model call (PreFlect 3.3, A.1).

In this order: a spent budget; a new plan that is asked for; the forced cadence; the next wave, of readings
only while the plan is examined; the answer.
History is never rewound. With re-planning off, or its allowance used up, a subtask whose attempts are spent
is failed and what depends on it blocked.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from langgraph.runtime import Runtime

from forethought.nodes.support.budget import exhausted, spent, wave_width
from forethought.nodes.support.effort import Moment, first_readings
from forethought.nodes.support.origins import thread_steps
from forethought.nodes.support.plans import ready, settle, status_update
from forethought.nodes.support.prompt_text import trajectory
from forethought.nodes.support.services import Services
from forethought.nodes.support.words import approved_lines
from forethought.state.agent import AgentState, Dispatch, Plan, Replan, Step
from forethought.state.context import Context
from forethought.state.reducers import CLEAR, with_statuses
from forethought.state.steps import is_call, never_begun
from forethought.text import cut


async def replan_trigger(
    state: AgentState, runtime: Runtime[Context], *, services: Services
) -> dict[str, Any]:
    """Decide, and record why. `proposals` is cleared and `dispatch` set every wave, or old proposals would be
    sent again."""
    turn = await services.turn(runtime)
    context, state = turn.context, with_statuses(state)
    progress = state["progress"]
    old, results = state.get("plan", {}), state.get("results", {})
    plan = settle(old, results, attempts_spent(state, old, context))
    update: dict[str, Any] = {"proposals": {CLEAR: None}, "dispatch": []}
    stopped = exhausted(state, context)
    update |= status_update(old, plan)
    if not stopped and (replan := replan_due(state, plan, context)):
        return {
            **update,
            "replans": [replan],
            "progress": {**progress, "replans": progress["replans"] + 1},
            "decision": {"to": "planner", "reason": replan["reason"], "n": progress["n"]},
        }
    wave = [] if stopped else ready(plan, results)
    if wave and not plan.get("reviewed", True):
        first = first_readings(Moment({**state, "plan": plan}, context, services.tools))
        wave = [key for key in wave if key in first]
    width = wave_width(state, context)
    if wave and not width.subtasks:
        stopped, wave = width.bound, []
    dispatch: list[Dispatch] = [
        {"subtask": key, "n": progress["n"] + i} for i, key in enumerate(wave[: width.subtasks], start=1)
    ]
    progress = {**progress, "stopped": stopped, "guidance": state.get("guidance", [])}
    if dispatch:
        progress = {**progress, "n": dispatch[-1]["n"], "waves": progress["waves"] + 1}
        if texts := approved_lines(plan, state, services.tools):
            update["foreseen"] = texts
    decision = {
        "to": "tools" if dispatch else "answer",
        "reason": _reason(dispatch, stopped),
        "n": progress["n"],
    }
    return {**update, "dispatch": dispatch, "progress": progress, "decision": decision}


def replan_due(state: AgentState, plan: Plan, context: Context) -> Replan | None:
    """The re-plan that is due: one that the last wave asks for, or a forced one (PreFlect 3.3, A.1)."""
    if not context.replanning or state["progress"]["replans"] >= context.max_replans:
        return None
    return _requested_replan(state, context) or _cadence(state, plan, context)


def _reason(dispatch: list[Dispatch], stopped: str) -> str:
    if dispatch:
        names = ", ".join(item["subtask"] for item in dispatch)
        return f"ready: {names}"
    return f"the budget of {stopped} is spent" if stopped else "no subtask is left"


def attempts_spent(state: AgentState, plan: Plan, context: Context) -> set[str]:
    """Pending subtasks that have failed as often as is allowed."""
    counts = attempt_counts(state)
    pending = {subtask["id"] for subtask in plan.get("subtasks", []) if subtask["status"] == "pending"}
    return {key for key in pending if counts.get(key, 0) >= context.max_attempts}


def attempt_counts(state: AgentState) -> dict[str, int]:
    """Failed attempts a subtask since it was last finished, read from the trajectory (so that it works with
    short-term memory off)."""
    counts: dict[str, int] = {}
    for step in trajectory(state):
        failed = counts.get(step["subtask"], 0) + (not step["ok"] and not never_begun(step))
        counts[step["subtask"]] = 0 if step["finished"] else failed
    return counts


def _requested_replan(state: AgentState, context: Context) -> Replan | None:
    """The last wave's reasons for a new plan: asked for, a repeat, attempts used up, a serious surprise."""
    wave = state["progress"]["waves"]
    steps = [step for step in trajectory(state) if step["wave"] == wave]
    if not wave or not steps or steps[-1]["n"] != state["progress"]["n"] or _planned_since(state):
        return None
    counts = attempt_counts(state)
    reasons = [reason for step in steps if (reason := _step_reason(step, counts, context))]
    reasons += [reason for step in steps if (reason := _surprise(step, state))]
    if not reasons:
        return None
    kind = reasons[0][0]
    return _replan(state, kind, " ".join(dict.fromkeys(text for _, text in reasons)), forced=False)


def _planned_since(state: AgentState) -> bool:
    """Whether the plan in force was already made after the last wave, so that its wave asks for nothing
    more."""
    progress = state["progress"]
    return bool(progress["planned_at"]) and progress["planned_at"][-1] == progress["n"] - progress["base_n"]


def _step_reason(step: Step, counts: dict[str, int], context: Context) -> tuple[str, str] | None:
    what = f"step {step['n']} [{step['subtask']}]"
    text = cut(step["observation"], 3_000)
    if step["cause"] == "replan":
        return "agent", f"At {what} the acting agent asked for a new plan: {text}"
    if step["cause"] == "repeat":
        return "repeat", f"At {what} a call that had failed was proposed again: {text}"
    if counts.get(step["subtask"], 0) >= context.max_attempts:
        return (
            "attempts",
            f"{step['subtask']} failed {counts[step['subtask']]} times; at {what}, {step['cause']}: {text}",
        )
    return None


def _surprise(step: Step, state: AgentState) -> tuple[str, str] | None:
    """A serious surprise at what the subtask saw since the plan in force was made: what that plan already
    knew of is no reason for another. One that foresight found asks for itself."""
    own = step.get("foresight")
    if own and own["replan"]:
        text = cut(f"{own['difference']} {own['reflection']}", 3_000)
        return (
            "surprise",
            f"At step {step['n']} [{step['subtask']}] came what the plan did not expect. {text}",
        )
    if own and own["before"] != "serious":
        return None
    if step["surprise"] != "serious":
        return None
    earlier = [s for s in trajectory(state) if s["subtask"] == step["subtask"] and s["n"] < step["n"]]
    if not earlier or earlier[-1]["n"] <= state["plan"].get("n", 0):
        return None
    where = f"step {earlier[-1]['n']} [{step['subtask']}] saw something that the plan did not expect"
    return "surprise", f"A serious surprise: {where}. {cut(step['thought'], 800)}"


def _cadence(state: AgentState, plan: Plan, context: Context) -> Replan | None:
    """A forced re-plan: each of `replan_calls` ends a window of calls that needs a plan of its own (A.1).

    A wide wave may end two windows: the plan made after it serves the first, and the next wave is followed by
    one for the second.
    """
    if _planned_since(state) or not any(item["status"] == "pending" for item in plan.get("subtasks", [])):
        return None
    calls, plans, start = spent(state).calls, iter(_calls_before_plans(state)), 1
    for due in sorted(set(context.replan_calls)):
        served = any(made >= start for made in plans)  # takes the plan: it serves no other window
        if not served:
            reason = (
                f"{calls} calls were made, and a new plan was due by call {due}: look at what was found, "
                "plan what remains, and keep what is on course as it is."
            )
            return _replan(state, "cadence", reason, forced=True) if calls >= due else None
        start = due + 1
    return None


def _calls_before_plans(state: AgentState) -> list[int]:
    """How many calls of the task had been made when each plan was made, in order."""
    base = state["progress"]["base_n"]
    steps = [step for step in thread_steps(state) if step["n"] > base]  # those of forgotten rounds too
    others = [step["n"] - base for step in steps if not is_call(step)]
    return [at - bisect_right(others, at) for at in sorted(set(state["progress"]["planned_at"]))]


def _replan(state: AgentState, kind: str, reason: str, *, forced: bool) -> Replan:
    progress = state["progress"]
    return {"n": progress["n"], "reason": reason, "forced": forced, "kind": kind, "task": progress["task"]}
