"""Finding the JSON object in what a model wrote: fences and prose around it are forgiven, anything else is
not.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\r?\n(.*?)```", re.DOTALL)
_TRIES = 200
"""Braces tried as the beginning of the object; more would cost quadratic time on junk."""
_DEEPEST = 100
"""Levels of nesting that a reply may have."""


class Unfit(ValueError):
    """JSON that a checkpoint cannot hold."""


def find_object(text: str) -> dict[str, Any]:
    """The JSON object in `text`: the whole of it, a fenced block, or the longest object in the prose.

    Raises ValueError with a short reason; Unfit where the object itself cannot be kept.
    """
    stripped = text.strip()
    if not stripped:
        raise ValueError("the reply is empty")
    try:
        return _object(_loads(stripped))
    except Unfit:
        raise
    except ValueError as error:
        reason = str(error)
    for block in _FENCE.findall(stripped):
        try:
            return _object(_loads(block.strip()))
        except Unfit:
            raise
        except ValueError:
            continue
    found = _longest(stripped)
    if found is None:
        raise ValueError(f"the reply holds no JSON object: {reason}")
    return found


def _longest(text: str) -> dict[str, Any] | None:
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    best: tuple[int, dict[str, Any]] | None = None
    at = text.find("{")
    for _ in range(_TRIES):
        if at < 0:
            break
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if best is None or end - at > best[0]:
                best = (end - at, value)
        at = text.find("{", end)
    return _clean(best[1]) if best else None


def _loads(text: str) -> Any:
    try:
        return _clean(json.loads(text, parse_constant=_no_constant))
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at character {error.pos}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"a JSON object is needed, not {type(value).__name__}")
    return value


def _clean(value: Any, depth: int = 0) -> Any:
    """Without half surrogate pairs, which could not be stored or sent on as UTF-8.

    Raises Unfit for what a checkpoint cannot hold: numbers beyond 64 bits, and nesting so deep that
    nothing could copy it.
    """
    if depth > _DEEPEST:
        raise Unfit("nested too deeply")
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_clean(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise Unfit("a number is too large")
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise Unfit("a number is too large")
    return value
