"""One API of a query as a function that an agent can call, and its names on the wire."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forethought.evals.types import DataError
from forethought.prompts.tool_choice import RESERVED

DESCRIPTION = 256
"""Maximum characters of a description, as in the official inference."""
LONGEST = 64
"""Maximum characters of a function's name."""
_FOREIGN = re.compile(r"[^\u4e00-\u9fa5^a-zA-Z0-9_]")
_PYTHON_WORDS = frozenset({"from", "class", "return", "false", "true", "id", "and"})
_INVALID = re.compile(r"[^A-Za-z0-9_-]")
_TYPES = {"NUMBER": "number", "BOOLEAN": "boolean"}


@dataclass(frozen=True)
class Api:
    """An API, by its names on the wire, and the function it is offered as."""

    category: str
    tool: str
    api: str
    name: str
    """Valid and unique among the functions of its query."""
    description: str
    parameters: dict[str, Any]
    """A JSON schema of type object."""


def apis_of(listed: Sequence[Mapping[str, Any]]) -> list[Api]:
    """The APIs of a query's `api_list`. Raises DataError, one line."""
    try:
        functions = [function_name(str(item["api_name"]), str(item["tool_name"])) for item in listed]
        names = unique(functions, RESERVED)
        return [_api(item, name) for item, name in zip(listed, names, strict=True)]
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"an entry of api_list is malformed ({type(error).__name__}: {error})") from error


def _api(item: Mapping[str, Any], name: str) -> Api:
    tool = plain(str(item["tool_name"]))
    about = str(item.get("api_description") or "").strip()[:DESCRIPTION]
    description = f"An API of the tool {tool}." + (f" {about}" if about else "")
    required = [_parameter(entry) for entry in item.get("required_parameters") or ()]
    optional = [_parameter(entry) for entry in item.get("optional_parameters") or ()]
    parameters = {
        "type": "object",
        # The required ones last, since they win where a name is listed twice.
        "properties": {**dict(optional), **dict(required)},
        "required": list(dict.fromkeys(key for key, _ in required)),
        "additionalProperties": False,
    }
    return Api(
        str(item["category_name"]),
        tool,
        identifier(str(item["api_name"])),
        name,
        description,
        parameters,
    )


def _parameter(entry: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Name and schema; numbers may be fractions, and what is of another type is text."""
    about = " ".join(str(entry.get("description") or "").split())[:DESCRIPTION]
    example = entry.get("default")
    if example not in (None, ""):
        about = f"{about} (for example {str(example)[:DESCRIPTION]})".strip()
    kind = _TYPES.get(str(entry.get("type")), "string")
    return identifier(str(entry["name"])) or "value", {"type": kind, "description": about}


def plain(name: str) -> str:
    """Lower case with single underscores for all else; `get_` before a digit. '' where nothing is left."""
    cleaned = re.sub(r"_{2,}", "_", _FOREIGN.sub("_", name)).lower().strip("_")
    return f"get_{cleaned}" if cleaned[:1].isdigit() else cleaned


def identifier(name: str) -> str:
    """The plain name of an API or parameter, with `is_` before Python's reserved words."""
    cleaned = plain(name)
    return f"is_{cleaned}" if cleaned in _PYTHON_WORDS else cleaned


def function_name(api: str, tool: str) -> str:
    """An API's name as a function: its last 64 characters, `api_for_tool`."""
    return f"{identifier(api)}_for_{plain(tool)}"[-LONGEST:]


def unique(names: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """Valid function names that differ from each other and from `taken`, in the same order; most stay."""
    names_so_far: list[str] = []
    for proposed in names:
        base = _INVALID.sub("_", proposed).strip("_") or "tool"
        name, number = base, 2
        while name in names_so_far or name in taken:
            ending = f"_{number}"
            name, number = base[: LONGEST - len(ending)] + ending, number + 1
        names_so_far.append(name)
    return names_so_far
