"""Calls of an episode's tools as text: what a trajectory keeps, and a replay carries out again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def call_text(name: str, arguments: Mapping[str, Any]) -> str:
    """The action that calls `name`: JSON with sorted keys, so that equal calls are equal texts."""
    return json.dumps(
        {"name": name, "arguments": dict(arguments)}, ensure_ascii=False, sort_keys=True, allow_nan=False
    )


def parse_call(action: str) -> tuple[str, dict[str, Any]]:
    """Name and arguments of an action. Raises ValueError, one line, when it is no call."""
    try:
        value = json.loads(action)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"an action here is a call as JSON with name and arguments ({error})") from error
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise ValueError("an action here is a call as JSON with name and arguments")
    arguments = value.get("arguments", {})
    if not isinstance(arguments, dict):
        raise ValueError("the arguments of a call are an object")
    return value["name"], arguments
