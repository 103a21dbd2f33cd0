"""The reply of the tool agent, built per run: its `arguments` are a union of the tools' own argument schemas,
since a strict schema allows no free-form object. MIRROR's two modes (section 4.4): a proposal as JSON, or as
a native function call.

Mechanisms that are switched off are not in the schema: `defects` without intra-reflection, `replan` without
re-planning, `expected` and `surprise` without foresight. The fields are described in the prompt alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forethought.models.extract import find_object
from forethought.models.schema import NotStrict, drop_nulls, json_schema, strict_schema
from forethought.models.types import Function, ReplySpec, reply_spec
from forethought.prompts.lean_replies import REPAIRS, full_move, lean_move_schema
from forethought.prompts.replies import Defect, ToolChoice
from forethought.state.context import Context
from forethought.tools.base import Tool

Json = dict[str, Any]
FINISH, REPLAN = "finish", "replan"
_WORDS = ("title", "description", "examples", "$comment")
RESERVED = (FINISH, REPLAN)
"""Names that no tool may have: in the function-calling mode they are functions beside the tools."""


def tool_choice_spec(tools: Mapping[str, Tool], context: Context) -> ReplySpec[ToolChoice]:
    """The spec of a ToolChoice over `tools`, as one JSON object or as functions."""
    if context.lean:
        return _lean_spec(tools, context)
    functions = context.proposals == "functions"
    schemas, strict = argument_schemas(tools)
    offered = _functions(tools, schemas, context) if functions else ()

    def parse(value: Any) -> ToolChoice:
        reply = _from_function(value) if functions else dict(value)
        return _parse(reply, tools, context)

    return ReplySpec("ToolChoice", _schema(schemas, context), parse, functions=offered, strict=strict)


def _lean_spec(tools: Mapping[str, Tool], context: Context) -> ReplySpec[ToolChoice]:
    schema = lean_move_schema(tools, [FINISH, REPLAN] if context.replanning else [FINISH])

    def parse(value: Any) -> ToolChoice:
        return _parse(full_move(value, RESERVED), tools, context)

    return ReplySpec("ToolChoice", schema, parse, strict=False, repairs=REPAIRS)


def argument_schemas(tools: Mapping[str, Tool]) -> tuple[dict[str, Json], bool]:
    """Each tool's argument schema, and whether all of them fit the strict subset."""
    schemas, strict = {}, True
    for name, tool in tools.items():
        try:
            schemas[name] = strict_schema(tool.arguments)
        except NotStrict:
            schemas[name], strict = json_schema(tool.arguments), False
        if tool.foreign:
            schemas[name] = wordless(schemas[name])
    return schemas, strict


def wordless(schema: Any, names: bool = False) -> Any:
    """A schema without the words of who wrote it: those stand in the prompt, fenced as data. `names`: whether
    its keys are names of arguments, which may be called `title`."""
    if isinstance(schema, list):
        return [wordless(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: wordless(value, names=not names and key in ("properties", "$defs"))
        for key, value in schema.items()
        if names or key not in _WORDS
    }


_TEXT: Json = {"type": "string"}
_TEXT_OR_NULL: Json = {"type": ["string", "null"]}


def _head(context: Context) -> Json:
    surprise = {"surprise": {"type": "string", "enum": ["none", "minor", "serious"]}}
    return {"thought": _TEXT} | (surprise if context.foresees_tools else {})


def _tail(context: Context) -> Json:
    return (
        {"defects": {"type": "array", "items": reply_spec(Defect).schema}}
        if context.wants("tool_intra")
        else {}
    )


def _undescribed(schema: Json) -> Json:
    """An argument schema without the descriptions of its arguments, which the prompt lists with the tool."""
    properties = {
        name: {key: value for key, value in entry.items() if key != "description"}
        for name, entry in schema.get("properties", {}).items()
    }
    return {**schema, "properties": properties}


def closed(properties: Json) -> Json:
    """The schema of an object with all of `properties` and nothing else."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def call_properties(schemas: Mapping[str, Json]) -> Json:
    """`tool` and `arguments` of a reply that may call one of the tools with these argument schemas."""
    return {
        "tool": {"anyOf": [{"type": "string", "enum": list(schemas)}, {"type": "null"}]},
        "arguments": {"anyOf": [*schemas.values(), {"type": "null"}]},
    }


def _schema(schemas: Mapping[str, Json], context: Context) -> Json:
    schemas = {name: _undescribed(schema) for name, schema in schemas.items()}
    actions = ["call"] if schemas else []
    actions += [FINISH, REPLAN] if context.replanning else [FINISH]
    properties = _head(context)
    properties["action"] = {"type": "string", "enum": actions}
    if schemas:  # an empty enumeration would be refused
        properties |= call_properties(schemas)
        properties["finishes"] = {"type": ["boolean", "null"]}
    properties["result"] = _TEXT_OR_NULL
    if context.replanning:
        properties["reason"] = _TEXT_OR_NULL
    if context.foresight != "off":
        properties["expected"] = _TEXT_OR_NULL
    return closed(properties | _tail(context))


def _functions(
    tools: Mapping[str, Tool], schemas: Mapping[str, Json], context: Context
) -> tuple[Function, ...]:
    offered = []
    for name, tool in tools.items():
        properties = {**_head(context), "arguments": schemas[name], "finishes": {"type": "boolean"}}
        if context.foresight != "off":
            properties["expected"] = _TEXT
        about = f"The tool {name}, as listed above." if tool.foreign else tool.description
        offered.append(Function(name, about, closed(properties | _tail(context))))
    finish = {**_head(context), "result": _TEXT, **_tail(context)}
    offered.append(Function(FINISH, "The subtask is done: hand its result on.", closed(finish)))
    if context.replanning:
        replan = {**_head(context), "reason": _TEXT, **_tail(context)}
        offered.append(Function(REPLAN, "Ask for a new plan.", closed(replan)))
    return tuple(offered)


def _from_function(value: Any) -> Json:
    name, arguments = value["function"], dict(value["arguments"])
    if name in RESERVED:
        return {**arguments, "action": name}
    return {**arguments, "action": "call", "tool": name}


def object_of(text: str) -> Json:
    """Arguments that were written as JSON text within the JSON."""
    try:
        return find_object(text)
    except ValueError as error:
        raise ValueError(f"arguments must be an object: {error}") from None


def _parse(reply: Json, tools: Mapping[str, Tool], context: Context) -> ToolChoice:
    if context.wants("tool_intra") and "defects" not in reply:
        raise ValueError("defects is missing: list what is wrong with the move, or nothing: []")
    if not context.replanning and reply.get("action") == REPLAN:
        raise ValueError("action must be call or finish")
    reply = {key: value for key, value in reply.items() if value is not None}
    if isinstance(reply.get("arguments"), str):
        reply["arguments"] = object_of(reply["arguments"])
    choice = ToolChoice.model_validate(reply)
    if choice.action != "call":
        return choice.model_copy(update={"tool": None, "arguments": {}, "finishes": False})
    tool = tools.get(choice.tool or "")
    if tool is None:
        return choice
    return choice.model_copy(update={"arguments": drop_nulls(choice.arguments, json_schema(tool.arguments))})
