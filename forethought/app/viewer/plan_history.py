"""The versions of a plan, and what changed from one to the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from forethought.app import view

Json = dict[str, Any]
Pieces = list[tuple[bool, str]]
"""A text in pieces: whether each differs from the other text, and its words."""


def plan_versions(plans: Sequence[Mapping[str, Any]], result: Mapping[str, Any], base: int) -> list[Json]:
    """The versions of the present task's plan, oldest first.

    {version, plan, review, replan, changes, missing}: the plan (None where it cannot be read), what the
    reflector found in it, the request that it was made upon, and what changed since the version before.
    `plans` were written on the way (those of earlier tasks too), `base` is the last step before the task.
    """
    present: Mapping[str, Any] = result["plan"] or {}
    known = {one["version"]: one for one in plans if one.get("n", 0) >= base}
    known = {version: one for version, one in known.items() if version <= present.get("version", 0)}
    if present.get("subtasks"):
        known[present["version"]] = present
    reviews = {one["plan_version"]: one for one in result["plan_reviews"]}
    versions, before = [], None
    for version in sorted(known.keys() | reviews.keys()):
        plan, review = known.get(version), reviews.get(version)
        revised = bool(reviews.get(version - 1, {}).get("revised"))
        asked = [one for one in result["replans"] if plan and one["n"] == plan.get("n")]
        versions.append(
            {
                "version": version,
                "plan": plan,
                "review": review,
                "by": "reflector" if revised else "planner",
                "replan": asked[-1] if asked and not revised else None,
                "changes": plan_changes(before, plan) if before and plan else [],
            }
        )
        before = plan or before
    return versions


def plan_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Json]:
    """The subtasks of both plans, those of the new one first: {id, change, old, new}.

    `change` is added, removed, changed or same; `old` and `new` are lists of {name, pieces}, a part each.
    """
    before, after = ({one["id"]: _parts(one) for one in plan.get("subtasks") or []} for plan in (old, new))
    changes = []
    for name in [*after, *(name for name in before if name not in after)]:
        one, other = before.get(name), after.get(name)
        kind = (
            "removed" if other is None else "added" if one is None else "same" if one == other else "changed"
        )
        left, right = _compared(one or {}, other or {}, kind)
        changes.append({"id": name, "change": kind, "old": left, "new": right})
    return changes


def _parts(subtask: Mapping[str, Any]) -> dict[str, str]:
    call = subtask.get("call") or {}
    parts = {
        "task": str(subtask.get("description") or ""),
        "after": ", ".join(subtask.get("depends_on") or []),
        "call": view.call(call.get("tool"), call.get("arguments"), None) if call else "",
        "expected": str(subtask.get("expected") or ""),
    }
    return {name: text for name, text in parts.items() if text}


def _compared(old: Mapping[str, str], new: Mapping[str, str], kind: str) -> tuple[list[Json], list[Json]]:
    """The parts of both, in pieces that tell which words differ. A subtask that is only in one is whole."""
    left: list[Json] = []
    right: list[Json] = []
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name, ""), new.get(name, "")
        if kind == "changed":
            pieces = word_differences(before, after)
        else:
            pieces = [(False, before)], [(False, after)]
        for side, found, text in ((left, pieces[0], before), (right, pieces[1], after)):
            if text:
                side.append({"name": name, "pieces": found})
    return left, right


def word_differences(old: str, new: str) -> tuple[Pieces, Pieces]:
    """Both texts in pieces. Texts that have little in common differ as a whole."""
    a, b = old.split(), new.split()
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.quick_ratio() < 0.4:
        return [(True, old)], [(True, new)]
    codes = matcher.get_opcodes()
    left = ((tag != "equal", " ".join(a[i:j])) for tag, i, j, _, _ in codes)
    right = ((tag != "equal", " ".join(b[i:j])) for tag, _, _, i, j in codes)
    return _said(left), _said(right)


def _said(pieces: Iterable[tuple[bool, str]]) -> Pieces:
    return [piece for piece in pieces if piece[1]]
