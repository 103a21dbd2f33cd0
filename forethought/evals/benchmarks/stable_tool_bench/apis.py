"""One API of a query as a function that an agent can call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forethought.evals.benchmarks.stable_tool_bench.names import (
    category_folder,
    function_name,
    identifier,
    plain,
    unique,
)
from forethought.evals.types import DataError
from forethought.prompts.tool_choice import RESERVED

DESCRIPTION = 256
"""Characters of a description that are shown, as in the official inference."""
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
        raise DataError(
            f"an entry of api_list is not what it should be ({type(error).__name__}: {error})"
        ) from error


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
        category_folder(str(item["category_name"])),
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
