"""The calls that a plan may carry, as its schema offers them: one of the tools with its arguments.

The arguments' meaning is left to the tool's line in the prompt: a wrong call is the worker's to mend.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from forethought.models.types import ReplySpec
from forethought.prompts.tool_choice import argument_schemas, closed, wordless
from forethought.tools.base import Tool

Json = dict[str, Any]
T = TypeVar("T")


def with_calls(spec: ReplySpec[T], tools: Mapping[str, Tool]) -> ReplySpec[T]:
    """The spec of a reply with `subtasks`, each of which may begin with calls of the `tools`.

    A tool whose arguments do not fit the strict subset is left to the workers.
    """
    if not (calls := _calls(tools)):
        return spec
    properties = spec.schema["properties"]
    subtasks = {**properties["subtasks"], "items": _with_calls(properties["subtasks"]["items"], calls)}
    return replace(spec, schema={**spec.schema, "properties": {**properties, "subtasks": subtasks}})


def _calls(tools: Mapping[str, Tool]) -> list[Json]:
    calls = []
    for name, tool in tools.items():
        schemas, strict = argument_schemas({name: tool})
        if strict:
            named = {"type": "string", "enum": [name]}
            calls.append(closed({"tool": named, "arguments": wordless(schemas[name])}))
    return calls


def _with_calls(subtask: Json, calls: list[Json]) -> Json:
    """A subtask with its `calls`, after what they may rest on, and whether one finishes it."""
    fields: Json = {}
    for name, schema in subtask["properties"].items():
        fields[name] = schema
        if name == "depends_on":
            fields["calls"] = {"type": "array", "items": {"anyOf": calls}}
            fields["finishes"] = {"type": "boolean"}
    return closed(fields)
