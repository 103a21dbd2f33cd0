"""What `effort=auto` leaves out, and why: rules that cost no model call.

A mechanism runs where it can change something. Each rule is one question about the moment at hand, with the
reason that a skip is recorded with; docs/concepts/effort.md lists them, and a test compares the two.
With `paper` and `low`, and where a run sets the switch itself, no rule is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from forethought.nodes.support.prompt_text import trajectory
from forethought.nodes.support.services import Turn
from forethought.nodes.support.sign_verdicts import all_heeded, sign_lines
from forethought.state.agent import AgentState, Plan, Subtask
from forethought.state.context import Context, Mechanism
from forethought.state.skips import Skip
from forethought.tools.base import Tool

SHORT_PLAN = 3
"""Maximum open subtasks of a plan that is too short to examine."""


@dataclass(frozen=True)
class Moment:
    """What a rule is asked about."""

    state: AgentState
    context: Context
    tools: Mapping[str, Tool] = field(default_factory=dict)
    subtask: Subtask | None = None
    """Whose move is due."""
    before: Plan | None = None
    """The plan of which that in the state is a revision."""


@dataclass(frozen=True)
class Rule:
    """Where a mechanism cannot change anything."""

    mechanism: Mechanism
    why: str
    """The reason, as it is recorded."""
    holds: Callable[[Moment], bool]


def _is_examined(moment: Moment) -> bool:
    return moment.context.wants("prospective_reflection") is not False


def _only_reads(moment: Moment) -> bool:
    """Of a plan whose open part only reads; nothing is built on it, and no sign says to look closer."""
    pending = open_subtasks(moment.state.get("plan", {}))
    return all(is_reading(subtask, moment.tools) for subtask in pending) and not sign_lines(moment.state)


def _is_short(moment: Moment) -> bool:
    """Of a plan of few subtasks, where there is no file, no tool changes anything, and its author went
    through every sign."""
    few = len(open_subtasks(moment.state.get("plan", {}))) <= SHORT_PLAN
    harmless = all(tool.only_fetches for tool in moment.tools.values())
    return few and harmless and not moment.state.get("files") and _heeds_signs(moment)


def _was_seen(moment: Moment) -> bool:
    """Whether every file was seen whole, and the plan's author went through every sign."""
    unlisted = moment.state.get("look", {}).get("more_signs", 0)
    return all_seen(moment.state) and not unlisted and _heeds_signs(moment)


def _heeds_signs(moment: Moment) -> bool:
    return all_heeded(moment.state["plan"].get("signs", []), moment.state)


def _only_words_changed(moment: Moment) -> bool:
    return moment.before is not None and _shape(moment.before) == _shape(moment.state["plan"])


def _moves_lightly(moment: Moment) -> bool:
    """Of a subtask that only reads, or where no tool does more, before any failure or surprise."""
    if moment.subtask is None:
        return False
    if not (is_reading(moment.subtask, moment.tools) or all(map(_reads, moment.tools.values()))):
        return False
    steps = [step for step in trajectory(moment.state) if step["subtask"] == moment.subtask["id"]]
    return all(step["ok"] and step["surprise"] == "none" and "foresight" not in step for step in steps)


def _always(moment: Moment) -> bool:
    return True


RULES: tuple[Rule, ...] = (
    Rule("plan_intra", "the reflector examines the plan if needed", _is_examined),
    Rule("prospective_reflection", "the plan only reads, and no step builds on the readings", _only_reads),
    Rule(
        "prospective_reflection",
        "the plan is short: a wrong step costs no more than an examination",
        _is_short,
    ),
    Rule("prospective_reflection", "all files were seen, and the plan handles each relevant sign", _was_seen),
    Rule("prospective_reflection", "the revision changed only wording", _only_words_changed),
    Rule("tool_intra", "the subtask only reads, without a failure or a surprise", _moves_lightly),
    Rule("answer_intra", "the answer's checks replace it", _always),
)


def why_skipped(mechanism: Mechanism, moment: Moment) -> str:
    """The reason of the first rule that holds; '' if the mechanism runs, or its switch is off."""
    if moment.context.wants(mechanism) is not None:
        return ""
    return next((rule.why for rule in RULES if rule.mechanism == mechanism and rule.holds(moment)), "")


def first_readings(moment: Moment) -> list[str]:
    """Ids of the readings that the plan begins with and that are made before it is examined.

    Where all that was given has been seen, or nothing is built on readings, it is examined at once: [].
    """
    pending = open_subtasks(moment.state.get("plan", {}))
    if moment.context.effort != "auto" or moment.context.wants("prospective_reflection") is False:
        return []
    if all_seen(moment.state):
        return []
    first = [subtask["id"] for subtask in pending if is_reading(subtask, moment.tools)]
    return first if len(first) < len(pending) else []


def settle(mechanism: Mechanism, turn: Turn, moment: Moment) -> tuple[Turn, dict[str, Any]]:
    """The turn with the mechanism's switch on or off, and the update that records a skip."""
    why = why_skipped(mechanism, moment)
    wanted = not why and turn.context.wants(mechanism) is not False
    context = turn.context.model_copy(update={mechanism: wanted})
    return replace(turn, context=context), skip_update(mechanism, why, moment.state)


def skip_update(mechanism: Mechanism, why: str, state: AgentState) -> dict[str, Any]:
    """The update that records a skip; {} without a reason."""
    progress = state.get("progress", {})
    skip: Skip = {"n": progress["n"], "task": progress["task"], "mechanism": mechanism, "why": why}
    return {"skipped": [skip]} if why else {}


def open_subtasks(plan: Plan) -> list[Subtask]:
    """The subtasks that are still to be done."""
    return [subtask for subtask in plan.get("subtasks", []) if subtask.get("status") == "pending"]


def is_reading(subtask: Subtask, tools: Mapping[str, Tool]) -> bool:
    """Whether a subtask depends on nothing and begins with a call that reads or looks up; one whose call is
    left to its worker may compute."""
    call = subtask.get("call")
    tool = tools.get(call["tool"]) if call else None
    return tool is not None and _reads(tool) and not subtask["depends_on"]


def _reads(tool: Tool) -> bool:
    """Whether a tool reads or looks up, and does nothing else."""
    return tool.only_fetches and not (tool.runs_code or tool.asks_person)


def all_seen(state: AgentState) -> bool:
    """Whether the first look showed files, and all of them whole."""
    look = state.get("look")
    return bool(
        look
        and look["files"]
        and not look["unseen"]
        and all(file["shown"] == "whole" for file in look["files"])
    )


def _shape(plan: Plan) -> Sequence[Any]:
    """What of a plan is more than wording."""
    return sorted((s["id"], sorted(s["depends_on"]), str(s.get("call"))) for s in open_subtasks(plan))
