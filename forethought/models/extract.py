"""The JSON object in what a model wrote: code fences and prose around it are forgiven."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\r?\n(.*?)```", re.DOTALL)
_TRIES = 200
"""Braces tried as the beginning of the object; more would cost quadratic time on junk."""
_DEEPEST = 100
"""Levels of nesting that a reply may have: a checkpoint cannot copy any number of them."""


class NoObject(ValueError):
    """The text holds no JSON object."""


def has_object(text: str) -> bool:
    """Whether `find_object` finds one."""
    try:
        find_object(text)
    except NoObject:
        return False
    except ValueError:
        pass
    return True


def find_object(text: str) -> dict[str, Any]:
    """The JSON object in `text`: the whole of it, a fenced block, or the longest object in the prose.

    Raises ValueError with a short reason, also for an object that a checkpoint cannot hold.
    """
    text = text.strip()
    if not text:
        raise NoObject("the reply is empty")
    reason = ""
    for candidate in (text, *map(str.strip, _FENCE.findall(text))):
        try:
            value = json.loads(candidate, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            reason = reason or _reason(error)
            continue
        if isinstance(value, dict):
            return _storable(value)
        reason = reason or f"a JSON object is needed, not {type(value).__name__}"
    if (longest := _longest(text)) is None:
        raise NoObject(f"the reply holds no JSON object: {reason}")
    return _storable(longest)


def _longest(text: str) -> dict[str, Any] | None:
    """The longest object that begins at one of the first braces."""
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    best, length, at = None, 0, text.find("{")
    for _ in range(_TRIES):
        if at < 0:
            break
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if end - at > length:
                best, length = value, end - at
        at = text.find("{", end)
    return best


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _storable(value: dict[str, Any]) -> dict[str, Any]:
    """`value` with "?" for half surrogate pairs. Raises ValueError for what no checkpoint can hold."""
    return {_checked(key): _checked(item, 1) for key, item in value.items()}


def _checked(value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_checked(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_checked(key): _checked(item, depth + 1) for key, item in value.items()}
    too_large = isinstance(value, float) and not math.isfinite(value)
    if too_large or (isinstance(value, int) and not -(2**63) <= value < 2**64):
        raise ValueError("a number is too large")
    return value
