"""What hosted models accept as a schema, as checks for tests and for the scripted model server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

_COMMON = (
    "type properties required additionalProperties items anyOf enum description title "
    "minimum maximum minItems maxItems"
)
OPENAI_KEYWORDS = {*_COMMON.split(), "format", "pattern", "const", "$ref", "$defs"}
GEMINI_KEYWORDS = {*_COMMON.split(), "format", "prefixItems"}
TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}
DEEPEST = 10


def openai_faults(schema: Json) -> list[str]:
    """Why OpenAI would refuse `schema` with `strict: true`; empty: it would not."""
    faults = [] if schema.get("type") == "object" else ["(root): must be an object"]
    for path, node, depth in _nodes(schema):
        faults += [f"{path}: {fault}" for fault in _node_faults(node, OPENAI_KEYWORDS)]
        if depth > DEEPEST:
            faults.append(f"{path}: nested deeper than {DEEPEST}")
        if "$ref" in node and len(node) > 1:
            faults.append(f"{path}: $ref must stand alone")
        if "object" in _kinds(node):
            if node.get("additionalProperties") is not False:
                faults.append(f"{path}: additionalProperties must be false")
            if set(node.get("required", ())) != set(node.get("properties", {})):
                faults.append(f"{path}: every property must be required")
    return faults


def gemini_faults(schema: Json) -> list[str]:
    """Why Gemini would refuse `schema` or ignore a part of it; empty: it would not."""
    return [
        f"{path}: {fault}"
        for path, node, _ in _nodes(schema)
        for fault in _node_faults(node, GEMINI_KEYWORDS)
    ]


def _node_faults(node: Json, keywords: set[str]) -> list[str]:
    faults = [f"'{key}' is not permitted" for key in node if key not in keywords]
    if not {"type", "anyOf", "enum", "const", "$ref"} & set(node):
        faults.append("a type is missing")
    faults += [f"unknown type {kind}" for kind in _kinds(node) if kind not in TYPES]
    if "array" in _kinds(node) and not isinstance(node.get("items"), dict):
        faults.append("items is missing")
    return faults


def _kinds(node: Json) -> list[str]:
    kind = node.get("type", [])
    return kind if isinstance(kind, list) else [kind]


def _nodes(schema: Json, path: str = "(root)", depth: int = 1) -> Iterator[tuple[str, Json, int]]:
    yield path, schema, depth
    for name, child in {**schema.get("properties", {}), **schema.get("$defs", {})}.items():
        yield from _nodes(child, f"{path}.{name}", depth + 1)
    if isinstance(schema.get("items"), dict):
        yield from _nodes(schema["items"], f"{path}[]", depth + 1)
    for number, option in enumerate(schema.get("anyOf", ())):
        yield from _nodes(option, f"{path}|{number}", depth)
