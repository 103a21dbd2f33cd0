"""How writes to the `plan` channel are joined: whole plans, and patches of the plan in force.

A plan changes far more often than it is made anew: each wave finishes subtasks. Written whole each time, with
the finished subtasks of all rounds, it would be most of a long thread's database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict

if TYPE_CHECKING:
    from forethought.state.agent import Plan, SubtaskStatus

PATCH = "__patch__"
"""The one key of a write that is a patch; what lies under it is a `PlanPatch`."""


class PlanPatch(TypedDict):
    """What changes of the plan in force."""

    version: int
    """Version of the plan that it was made for."""
    status: dict[str, SubtaskStatus]
    """By subtask, where its status is another one."""
    fields: dict[str, Any]
    """The plan's own fields, all but its version and subtasks, where they are others."""


def join_plans(old: Any, writes: Sequence[Any]) -> Any:
    """Reducer of the delta channel `plan`: a patch changes the plan in force, anything else replaces it (None
    empties it).

    A patch is a write with the one key `"__patch__"` and a mapping under it. No edit can be taken for one:
    an edit is a plan, so it has keys of its own, and what a client reads and writes back is what this
    returns, which holds plans only. (A client that writes a patch on purpose edits the plan, as it may.) A
    patch for a plan of another version, or for a subtask that the plan does not have, is left out. To raise
    would close the thread for good, and to leave it out is safe: a status is derived again with the next
    wave, and a plan that was not marked as reviewed or approved is reviewed or asked for again. What a patch
    holds is checked as all of the state is .
    """
    plan = old
    for write in writes:
        patch = _patch(write)
        plan = write if patch is None else _patched(plan, patch)
    return {} if plan is None else plan


def plan_update(old: Plan, new: Plan) -> dict[str, Any]:
    """The update of a node by which the plan in force, `old`, becomes `new`: empty where they are the same, a
    patch where that is enough, else `new` whole."""
    if new == old:
        return {}
    write = {PATCH: _difference(old, new)}
    return {"plan": write if join_plans(old, [write]) == new else new}


def _patch(write: Any) -> Mapping[str, Any] | None:
    patch = write[PATCH] if isinstance(write, Mapping) and set(write) == {PATCH} else None
    return patch if isinstance(patch, Mapping) else None


def _patched(plan: Any, patch: Mapping[str, Any]) -> Any:
    version, status, fields = (patch.get(name) for name in ("version", "status", "fields"))
    if not isinstance(plan, Mapping) or type(version) is not int or plan.get("version") != version:
        return plan
    changed = dict(plan)
    if isinstance(fields, Mapping):
        changed |= {name: value for name, value in fields.items() if name not in ("version", "subtasks")}
    if isinstance(status, Mapping) and isinstance(plan.get("subtasks"), list):
        changed["subtasks"] = [_with_status(subtask, status) for subtask in plan["subtasks"]]
    return changed


def _with_status(subtask: Any, status: Mapping[str, Any]) -> Any:
    key = subtask.get("id") if isinstance(subtask, Mapping) else None
    return {**subtask, "status": status[key]} if isinstance(key, str) and key in status else subtask


def _difference(old: Plan, new: Plan) -> dict[str, Any]:
    """A patch with all that a patch can say of it; whether that is all is for the caller to see."""
    before = {subtask["id"]: subtask.get("status") for subtask in old.get("subtasks", [])}
    after = {subtask["id"]: subtask.get("status") for subtask in new.get("subtasks", [])}
    status = {key: value for key, value in after.items() if before.get(key) != value}
    was: Mapping[str, Any] = old
    fields = {
        name: value
        for name, value in new.items()
        if name not in ("version", "subtasks") and (name not in was or was[name] != value)
    }
    return {"version": new.get("version"), "status": status, "fields": fields}
