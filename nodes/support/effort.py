"""What `effort=auto` leaves out, and why: rules that cost no model call.

A mechanism runs if it can change something. The rules are data, effort.yaml: each names its conditions,
which are below, and the reason that a skip is recorded with. docs/concepts/effort.md lists them, and a test
compares the two. With `paper` and `low`, and if a run sets the switch itself, no rule is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import takewhile
from math import inf
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, field_validator

from forethought.json_files import read_text, write_text
from forethought.knowledge.yaml_files import Name, Text, parse_yaml
from forethought.nodes.support.mending import mending
from forethought.nodes.support.prompt_text import trajectory
from forethought.nodes.support.services import Turn
from forethought.state.agent import AgentState, Plan, Subtask
from forethought.state.context import Context, Mechanism
from forethought.state.skips import Skip
from forethought.tools.base import Tool

PACKAGED = Path(__file__).with_name("effort.yaml")


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


Condition = Callable[[Moment, Mapping[str, float]], bool]
"""Whether something is true of a moment; the mapping holds the rule's limits."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Evidence(_Record):
    """The figures of an audit: how often a rule's skips changed the outcome."""

    runs: Text
    model: Text
    skips: int
    """Moments that were run with the mechanism and without it."""
    tasks: int
    flips: float
    """Share of the pairs of runs, with and without it, whose outcomes differ; mean over tasks."""
    interval: tuple[float, float]
    """The 95 % interval of `flips`."""
    won: float | None = None
    """Share of the pairs with a better grade with it (wrong to right); absent without grades."""
    lost: float | None = None
    """Share of the pairs with a worse grade with it (right to wrong)."""
    gain_interval: tuple[float, float] | None = None
    """The 95 % interval of `won` less `lost`."""
    noise: float | None = None
    """Share of the pairs of runs without it that differ; absent if there was one run each."""
    tokens: float
    """What the mechanism cost at a skip."""
    usd: float | None = None
    """The same in dollars; absent if a price is unknown."""

    @property
    def net(self) -> float:
        """Outcomes set right, less those set wrong; without grades, flips less noise."""
        if self.won is None or self.lost is None:
            return self.flips - (self.noise or 0)
        return self.won - self.lost

    def per_flip(self, cost: float | None) -> float | None:
        """`cost` of a skip for each outcome that the mechanism sets right; None if it sets none right."""
        return cost / self.net if cost is not None and self.net > 0 else None


class Rule(_Record):
    """When a mechanism cannot change anything."""

    id: Name
    mechanism: Mechanism
    skip_if: tuple[Name, ...]
    """Names in CONDITIONS; the rule holds if all of them do."""
    limits: Mapping[str, float] = {}
    why: Text
    """The reason, as it is recorded."""
    convicted: bool = False
    """Whether an audit found that its skips cost right answers: the rule is not applied."""
    evidence: tuple[Evidence, ...] = ()

    @field_validator("skip_if")
    @classmethod
    def _are_known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := sorted({*names} - CONDITIONS.keys()):
            raise ValueError(f"there is no condition {unknown[0]!r}; use: {', '.join(sorted(CONDITIONS))}")
        return names

    @field_validator("limits")
    @classmethod
    def _are_measured(cls, limits: Mapping[str, float]) -> Mapping[str, float]:
        if unknown := sorted(limits.keys() - MEASURES.keys()):
            raise ValueError(f"there is no limit {unknown[0]!r}; use: {', '.join(MEASURES)}")
        return limits

    def holds(self, moment: Moment) -> bool:
        """Whether the rule is applied, and all its conditions are true of the moment."""
        return not self.convicted and all(CONDITIONS[name](moment, self.limits) for name in self.skip_if)


class _File(_Record):
    rules: tuple[Rule, ...]


@cache
def load_rules(path: Path | None = None) -> tuple[Rule, ...]:
    """The rules in a file (default: packaged), in its order; it is read once a process. Raises FileError."""
    path = path or PACKAGED
    return parse_yaml(read_text(path), path, _File).rules


def write_rules(path: Path, rules: Sequence[Rule]) -> None:
    """Write a file of rules, with the packaged file's explanation of the fields. Raises OSError."""
    head = takewhile(lambda line: line.startswith("#"), PACKAGED.read_text("utf-8").splitlines())
    records = [rule.model_dump(mode="json", exclude_none=True, exclude_defaults=True) for rule in rules]
    body = yaml.safe_dump({"rules": records}, sort_keys=False, default_flow_style=None, width=100)
    write_text(path, "\n".join([*head, body]))


def _reflector_is_on(moment: Moment, limits: Mapping[str, float]) -> bool:
    return moment.context.wants("prospective_reflection") is not False


def _changes_nothing(moment: Moment, limits: Mapping[str, float]) -> bool:
    """Whether the open part of the plan only reads and computes, beginning with calls of the plan."""
    tools, pending = moment.tools, open_subtasks(moment.state.get("plan", {}))
    if all(map(_reads, tools.values())) and not any(subtask["depends_on"] for subtask in pending):
        return True
    workers_may_go_on = all(map(_is_harmless, tools.values()))

    def is_safe(subtask: Subtask) -> bool:
        call = subtask.get("call")
        if not call or call["tool"] not in tools or not _is_harmless(tools[call["tool"]]):
            return False
        return workers_may_go_on or call.get("finishes", True)

    return all(map(is_safe, pending))


def _has_few_subtasks(moment: Moment, limits: Mapping[str, float]) -> bool:
    return MEASURES["subtasks"](moment.state) <= limits.get("subtasks", inf)


def _answer_is_checked(moment: Moment, limits: Mapping[str, float]) -> bool:
    return moment.context.answer_checks


def _no_check_failed(moment: Moment, limits: Mapping[str, float]) -> bool:
    """Whether no answer of the task has failed its checks yet."""
    return mending(moment.state) is None and moment.state.get("progress", {}).get("round", 1) == 1


def _is_revision(moment: Moment, limits: Mapping[str, float]) -> bool:
    return moment.before is not None


def _only_wording_changed(moment: Moment, limits: Mapping[str, float]) -> bool:
    return moment.before is not None and _shape(moment.before) == _shape(moment.state["plan"])


def _move_only_reads(moment: Moment, limits: Mapping[str, float]) -> bool:
    """Whether the next move can only read: no tool does more, or the subtask began with a reading and no
    tool changes or sends anything."""
    if moment.subtask is None:
        return False
    tools = moment.tools.values()
    begins = is_reading(moment.subtask, moment.tools) and all(map(_is_harmless, tools))
    return begins or all(map(_reads, tools))


def _nothing_went_wrong(moment: Moment, limits: Mapping[str, float]) -> bool:
    """Whether the subtask had no failure and no surprise yet."""
    if moment.subtask is None:
        return False
    steps = [step for step in trajectory(moment.state) if step["subtask"] == moment.subtask["id"]]
    return all(step["ok"] and step["surprise"] == "none" and "foresight" not in step for step in steps)


CONDITIONS: Mapping[str, Condition] = {
    "reflector_is_on": _reflector_is_on,
    "changes_nothing": _changes_nothing,
    "has_few_subtasks": _has_few_subtasks,
    "answer_is_checked": _answer_is_checked,
    "no_check_failed": _no_check_failed,
    "is_revision": _is_revision,
    "only_wording_changed": _only_wording_changed,
    "move_only_reads": _move_only_reads,
    "nothing_went_wrong": _nothing_went_wrong,
}
MEASURES: Mapping[str, Callable[[AgentState], float]] = {
    "subtasks": lambda state: len(open_subtasks(state.get("plan", {}))),
}
"""The value that each limit is compared with; an audit fits limits by it."""
RULES = load_rules()


def skipping_rule(mechanism: Mechanism, moment: Moment, file: Path | None = None) -> Rule | None:
    """The first rule of `file` (default: the packaged one) that holds; None if the mechanism runs, or its
    switch is off."""
    if moment.context.wants(mechanism) is not None:
        return None
    return next(
        (rule for rule in load_rules(file) if rule.mechanism == mechanism and rule.holds(moment)), None
    )


def first_readings(moment: Moment) -> list[str]:
    """Ids of the readings that the plan begins with; the reflector examines it while they are made.

    [] if it is examined before anything is done: a person approves it, or it begins with something else.
    """
    pending = open_subtasks(moment.state.get("plan", {}))
    if moment.context.effort != "auto" or moment.context.approve_plan:
        return []
    return [subtask["id"] for subtask in pending if is_reading(subtask, moment.tools)]


def settle(mechanism: Mechanism, turn: Turn, moment: Moment) -> tuple[Turn, dict[str, Any]]:
    """The turn with the mechanism's switch on or off, and the update that records a skip."""
    rule = skipping_rule(mechanism, moment, turn.services.settings.effort_file)
    wanted = rule is None and turn.context.wants(mechanism) is not False
    context = turn.context.model_copy(update={mechanism: wanted})
    return replace(turn, context=context), skip_update(rule, moment.state)


def skip_update(rule: Rule | None, state: AgentState) -> dict[str, Any]:
    """The update that records a skip; {} without a rule."""
    if rule is None:
        return {}
    progress = state.get("progress", {})
    skip: Skip = {
        "n": progress["n"],
        "task": progress["task"],
        "mechanism": rule.mechanism,
        "rule": rule.id,
        "why": rule.why,
    }
    return {"skipped": [skip]}


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


def _is_harmless(tool: Tool) -> bool:
    """Whether a tool neither changes nor sends anything."""
    return tool.runs_code or tool.only_fetches


def all_seen(state: AgentState) -> bool:
    """Whether the first look showed files, and all of them whole; of a folder, all files that hold a name or
    number of the task."""
    look = state.get("look")
    if not look or not all(file["shown"] == "whole" for file in look["files"]):
        return False
    if folder := look.get("folder"):
        return bool(folder.get("held"))
    return bool(look["files"]) and not look["unseen"]


def _shape(plan: Plan) -> Sequence[Any]:
    """What of a plan is more than wording."""
    return sorted((s["id"], sorted(s["depends_on"]), str(s.get("call"))) for s in open_subtasks(plan))
