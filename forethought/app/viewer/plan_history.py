"""The versions of a plan, and what changed from one to the next."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from forethought.app.text import to_json
from forethought.state.plan_words import own_words

Json = dict[str, Any]
Pieces = list[tuple[bool, str]]
"""A text in pieces: whether each differs from the other text, and its words."""
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_LONGEST = 4_000
"""Most words and spaces of a text that is compared word by word."""
_ALIKE = 0.4
"""Least ratio of equal words, of which the differences are worth a mark."""


def plan_versions(plans: Sequence[Mapping[str, Any]], result: Mapping[str, Any], base: int) -> list[Json]:
    """The versions of the present task's plan, oldest first.

    {version, plan, review, errors, signs, by, replan, changes}: the plan (None where it cannot be read), what
    the reflector found in it (errors, and signs that the plan ignores), who made it, the request that it
    was made upon, and what changed since the version before.
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
    """The subtasks that differ, those of the new plan first: {id, change, parts}.

    `change` is added, removed or changed. A part that differs is {name, code, old, new}: whether it is shown
    as code, and its text in both plans in pieces ([]: it has none).
    """
    before, after = ({one["id"]: _parts(one) for one in plan.get("subtasks") or []} for plan in (old, new))
    changes = []
    for name in [*after, *(name for name in before if name not in after)]:
        one, other = before.get(name, {}), after.get(name, {})
        if one != other:
            change = "changed" if one and other else "removed" if one else "added"
            changes.append({"id": name, "change": change, "parts": _compared(one, other)})
    return changes


def _parts(subtask: Mapping[str, Any]) -> dict[str, str]:
    call = subtask.get("call") or {}
    tool = str(call.get("tool") or "")
    arguments = {f"{tool}: {name}": _text(value) for name, value in (call.get("arguments") or {}).items()}
    parts = {
        "task": own_words(str(subtask.get("description") or ""))[0],
        "depends on": ", ".join(subtask.get("depends_on") or []),
        "expected": str(subtask.get("expected") or ""),
        "calls": tool,
        **arguments,
    }
    return {name: text for name, text in parts.items() if text}


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else to_json(value)


def _compared(old: Mapping[str, str], new: Mapping[str, str]) -> list[Json]:
    """The parts that differ, in the order of the new subtask."""
    parts = []
    for name in dict.fromkeys([*new, *old]):
        before, after = old.get(name, ""), new.get(name, "")
        if before != after:
            left, right = word_differences(before, after)
            parts.append({"name": name, "code": ":" in name, "old": left, "new": right})
    return parts


def word_differences(old: str, new: str) -> tuple[Pieces, Pieces]:
    """Both texts in pieces. Of texts that have little in common, no word is marked."""
    a, b = _WORDS.findall(old), _WORDS.findall(new)
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if max(len(a), len(b)) > _LONGEST or matcher.ratio() < _ALIKE:
        return [(False, old)] * bool(old), [(False, new)] * bool(new)
    codes = matcher.get_opcodes()
    left = [(tag != "equal", "".join(a[i:j])) for tag, i, j, _, _ in codes if i < j]
    right = [(tag != "equal", "".join(b[i:j])) for tag, _, _, i, j in codes if i < j]
    return left, right
