"""Reading JSON that nobody has checked: whatever stands where text, an object or a list is expected."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from forethought.text import sanitize_text
from forethought.trajectories.types import Outcome

Json = dict[str, Any]


def text(value: object) -> str:
    """`value` as text: itself, '' for None, JSON for anything else."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def mapping(value: object) -> Json:
    """`value` if it is an object, else an empty one."""
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {}


def items(value: object) -> list[Any]:
    """`value` if it is a list, else an empty one."""
    return list(value) if isinstance(value, list | tuple) else []


def rows(value: object, *keys: str) -> list[Any]:
    """The records in `value`: a list, what stands under the first of `keys`, or itself alone."""
    return items(value) or items(first(mapping(value), *keys)) or ([value] if isinstance(value, dict) else [])


def first(source: Mapping[str, Any], *keys: str) -> Any:
    """What stands under the first of `keys` that is there and not None."""
    return next((source[key] for key in keys if source.get(key) is not None), None)


def at(value: object, *paths: str) -> Any:
    """What stands under the first of the dotted `paths` that leads somewhere, None where none does."""
    for path in paths:
        found = value
        for key in path.split("."):
            if isinstance(found, list):
                found = found[int(key)] if key.isdigit() and int(key) < len(found) else None
            else:
                found = mapping(found).get(key)
        if found is not None:
            return found
    return None


def parsed(value: Any) -> Any:
    """A JSON text as what it holds, also where that is a JSON text; anything else as it is."""
    if isinstance(value, str) and value.strip()[:1] in ("{", "[", '"'):
        try:
            return parsed(json.loads(value))
        except (ValueError, RecursionError):
            return value
    return value


def arguments(value: object) -> Json:
    """A call's arguments, given as an object or as its JSON text; other text stands under 'argument'."""
    found = parsed(value)
    if isinstance(value, str) and not isinstance(found, dict):
        return {"argument": value} if value.strip() else {}
    return mapping(found)


def outcome(value: object) -> Outcome:
    """A source's word for success or failure. A number is a reward, and 1 or more is success."""
    if isinstance(value, str):
        word = value.strip().casefold()
        if word in ("true", "yes", "1", "1.0", "success", "won", "pass", "passed", "correct"):
            return "success"
        failed = word in ("false", "no", "0", "0.0", "failure", "fail", "failed", "lost", "incorrect")
        return "failure" if failed else "unknown"
    if isinstance(value, bool | int | float):
        return "success" if value >= 1 - 1e-6 else "failure"
    return "unknown"


def is_grade(value: object) -> bool:
    """Whether a score is a grade, of which nobody says from where on it is good."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value not in (0, 1)


def sanitize(value: Any) -> Any:
    """`value` with every text in it as a database stores it: see `sanitize_text`."""
    if isinstance(value, str):
        return sanitize_text(value)
    if isinstance(value, list | tuple):
        return [sanitize(item) for item in value]
    if isinstance(value, Mapping):
        return {sanitize_text(str(key)): sanitize(item) for key, item in value.items()}
    return value
