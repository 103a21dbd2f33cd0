"""From a model's subtasks to the plan in force: what is sent back, and how a new plan joins what is already
done."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import count
from typing import Any

from forethought.nodes.support.prompt_text import call_text, trajectory
from forethought.nodes.support.services import Services
from forethought.prompts.replies import PlannedSubtask
from forethought.state.agent import AgentState, Call, Plan, Result, Subtask
from forethought.state.context import Context
from forethought.state.plan_words import for_one_call
from forethought.state.reducers import CLEAR
from forethought.tools.base import Tool


def plan_problem(
    subtasks: Sequence[PlannedSubtask],
    *,
    old: Plan | None = None,
    results: Collection[str] = (),
    discard: Sequence[str] = (),
    may_be_empty: bool = False,
) -> str | None:
    """The first reason to send a plan back, or None: ids, dependencies, cycles, and failed work in the same
    words."""
    subtasks, finished = expanded(subtasks), set(results)
    unknown = sorted(set(discard) - finished)
    if unknown:
        return (
            f"discard names {unknown[0]!r}, which has no finished result; these are finished: "
            f"{_listed(finished)}"
        )
    if not subtasks:
        return None if may_be_empty else "the plan has no subtasks: give at least one"
    ids = [subtask.id for subtask in subtasks]
    if CLEAR in ids:
        return f"{CLEAR!r} cannot be the id of a subtask: use a short name"
    twice = sorted({key for key in ids if ids.count(key) > 1})
    if twice:
        return f"two subtasks have the id {twice[0]!r}: ids are unique"
    known = set(ids) | (finished - set(discard))
    for subtask in subtasks:
        missing = [key for key in subtask.depends_on if key not in known]
        if missing:
            return f"subtask {subtask.id!r} depends on {missing[0]!r}, which is none of: {_listed(known)}"
    return _cycle(subtasks) or _same_again(subtasks, old)


def callable_tools(state: AgentState, services: Services, context: Context) -> dict[str, Tool]:
    """The tools whose calls a plan may carry: none in the paper's order, where workers choose each, and none
    that changes something, whose calls a worker evaluates."""
    if context.effort == "paper":
        return {}
    return {name: tool for name, tool in services.offered(state).items() if tool.only_fetches}


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _cycle(subtasks: Sequence[PlannedSubtask]) -> str | None:
    try:
        TopologicalSorter({subtask.id: subtask.depends_on for subtask in subtasks}).prepare()
    except CycleError as error:
        return f"the dependencies form a cycle: {' -> '.join(reversed(error.args[1]))}"
    return None


def _same_again(subtasks: Sequence[PlannedSubtask], old: Plan | None) -> str | None:
    failed = [item for item in (old or {}).get("subtasks", []) if item["status"] == "failed"]
    for subtask in subtasks:
        if any(same_words(before["description"], subtask.description) for before in failed):
            return (
                f"subtask {subtask.id!r} has failed and stands here in the same words: "
                "give it another way and a new id, or drop it"
            )
    return None


def same_words(one: str, other: str) -> bool:
    """Whether two descriptions are the same but for spacing and case."""
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def dropped_ids(state: AgentState, *plans: Plan | None) -> set[str]:
    """Ids under which the trajectory has worked and which none of `plans` holds.

    Other work gets other ids, since an id's failed attempts count against it.
    """
    held = {subtask["id"] for plan in plans for subtask in (plan or {}).get("subtasks", [])}
    return {step["subtask"] for step in trajectory(state)} - held


def expanded(subtasks: Sequence[PlannedSubtask]) -> list[PlannedSubtask]:
    """The subtasks with one call each at most: ID's several calls become subtasks ID_1, ID_2 ..., and what
    depends on ID depends on all of them."""
    parts = {
        subtask.id: [_part(subtask, n) for n in range(len(subtask.calls))]
        for subtask in subtasks
        if len(subtask.calls) > 1
    }
    ids = {key: [part.id for part in several] for key, several in parts.items()}
    return [
        item.model_copy(update={"depends_on": [key for of in item.depends_on for key in ids.get(of, [of])]})
        for subtask in subtasks
        for item in parts.get(subtask.id, [subtask])
    ]


def _part(subtask: PlannedSubtask, at: int) -> PlannedSubtask:
    """A subtask that makes one of the calls."""
    call = subtask.calls[at]
    description = for_one_call(subtask.description, call_text(call.model_dump()))
    update = {"id": f"{subtask.id}_{at + 1}", "description": description, "calls": [call]}
    return subtask.model_copy(update=update)


def join_plan(
    subtasks: Sequence[PlannedSubtask],
    *,
    old: Plan | None,
    results: Collection[str],
    discard: Sequence[str] = (),
    used_ids: Collection[str] = (),
) -> list[Subtask]:
    """The subtasks of the new plan: finished ones stay, what remains is replaced.

    A finished subtask restated stays finished; a different subtask under a finished or failed id, or under an
    id that an earlier plan used (`used_ids`), gets a new id, and the plan's dependencies follow it.
    """
    subtasks = expanded(subtasks)
    before = {subtask["id"]: subtask for subtask in (old or {}).get("subtasks", [])}
    finished = {key: before[key] for key in before if key in results and key not in discard}

    def is_restated(subtask: PlannedSubtask) -> bool:
        return subtask.id in before and same_words(before[subtask.id]["description"], subtask.description)

    new = [subtask for subtask in subtasks if subtask.id not in finished or not is_restated(subtask)]
    used = {*before, *results, *used_ids, *(subtask.id for subtask in subtasks)}
    renamed: dict[str, str] = {}
    for subtask in new:
        key = subtask.id
        closed = before[key]["status"] in ("failed", "blocked") if key in before else key in used_ids
        if key in finished or (closed and not is_restated(subtask)):
            renamed[key] = next(name for n in count(2) if (name := f"{key}_{n}") not in used)
            used.add(renamed[key])
    fresh: list[Subtask] = [
        {
            "id": renamed.get(subtask.id, subtask.id),
            "description": subtask.description,
            "depends_on": list(dict.fromkeys(renamed.get(key, key) for key in subtask.depends_on)),
            # A program that speaks of results by an id that has changed would take another subtask's.
            "call": None if renamed.keys() & set(subtask.depends_on) else _call(subtask),
            "expected": subtask.expected,
            "status": "pending",
        }
        for subtask in new
    ]
    return [*finished.values(), *fresh]


def still_wanted(revision: Sequence[PlannedSubtask], plan: Plan, ids: Collection[str]) -> set[str]:
    """Those of `ids`, subtasks of the plan, that its revision repeats with the same call, or builds on."""
    listed = {subtask.id: subtask for subtask in expanded(revision)}
    used = {key for subtask in listed.values() for key in subtask.depends_on} - listed.keys()

    def is_repeated(old: Subtask) -> bool:
        new = listed.get(old["id"])
        if new is None or not same_words(old["description"], new.description):
            return False
        return not new.calls or _call(new) == old["call"]

    begun = [item for item in plan.get("subtasks", []) if item["id"] in ids]
    return {item["id"] for item in begun if item["id"] in used or is_repeated(item)}


def _call(subtask: PlannedSubtask) -> Call | None:
    """The one call of an expanded subtask."""
    if not subtask.calls:
        return None
    call = subtask.calls[0]
    return {"tool": call.tool, "arguments": call.arguments, "finishes": subtask.finishes}


def plan_update(plan: Plan) -> dict[str, Any]:
    """The update that puts `plan` in force, with the status of each subtask in the channel of its own."""
    subtasks = plan.get("subtasks", [])
    bare = [{name: value for name, value in item.items() if name != "status"} for item in subtasks]
    statuses = {item["id"]: item["status"] for item in subtasks}
    return {"plan": {**plan, "subtasks": bare}, "statuses": {CLEAR: None, **statuses}}


def status_update(old: Plan, new: Plan) -> dict[str, Any]:
    """The update by which the subtasks' statuses become those of `new`; {} where they are the same."""
    before = {item["id"]: item["status"] for item in old.get("subtasks", [])}
    after = {item["id"]: item["status"] for item in new.get("subtasks", [])}
    changed = {key: status for key, status in after.items() if before[key] != status}
    return {"statuses": changed} if changed else {}


def settle(plan: Plan, results: Mapping[str, Result], failed: Collection[str] = ()) -> Plan:
    """The plan with every subtask that has a result finished, the pending ones in `failed` failed, and those
    that depend on a failed or blocked one blocked."""
    subtasks: list[Subtask] = []
    for subtask in plan.get("subtasks", []):
        status = "finished" if subtask["id"] in results else subtask["status"]
        status = "failed" if status == "pending" and subtask["id"] in failed else status
        subtasks.append({**subtask, "status": status})
    lost = {subtask["id"] for subtask in subtasks if subtask["status"] in ("failed", "blocked")}
    grew = True
    while grew:  # at most one pass a subtask: each pass that goes on blocks at least one more
        grew = False
        for subtask in subtasks:
            if subtask["status"] == "pending" and lost & set(subtask["depends_on"]):
                subtask["status"] = "blocked"
                lost.add(subtask["id"])
                grew = True
    return {**plan, "subtasks": subtasks}


def ready(plan: Plan, results: Mapping[str, Result]) -> list[str]:
    """Ids of the pending subtasks whose dependencies are finished, in the plan's order."""
    return [
        subtask["id"]
        for subtask in plan.get("subtasks", [])
        if subtask["status"] == "pending" and all(key in results for key in subtask["depends_on"])
    ]
