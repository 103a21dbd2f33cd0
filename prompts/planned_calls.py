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
    """The spec of a reply with `subtasks`, each of which may have a `call` of one of the `tools`.

    A tool whose arguments do not fit the strict subset is left to the workers.
    """
    if not (calls := _calls(tools)):
        return spec
    properties = spec.schema["properties"]
    lists = properties["subtasks"]
    options = [_with_call(option, calls) for option in lists.get("anyOf", [lists])]
    subtasks = {**lists, "anyOf": options} if "anyOf" in lists else options[0]
    return replace(spec, schema={**spec.schema, "properties": {**properties, "subtasks": subtasks}})


def _calls(tools: Mapping[str, Tool]) -> list[Json]:
    calls = []
    for name, tool in tools.items():
        schemas, strict = argument_schemas({name: tool})
        if strict:
            named = {"type": "string", "enum": [name]}
            calls.append(closed({"tool": named, "arguments": wordless(schemas[name])}))
    return calls


def _with_call(subtasks: Json, calls: list[Json]) -> Json:
    """The list of subtasks with the `call` of each, after what it may rest on."""
    if "items" not in subtasks:
        return subtasks
    fields: Json = {}
    for name, schema in subtasks["items"]["properties"].items():
        fields[name] = schema
        if name == "depends_on":
            fields["call"] = {"anyOf": [*calls, {"type": "null"}]}
    return {**subtasks, "items": closed(fields)}
