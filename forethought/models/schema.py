"""JSON schemas that fit the strict subset of hosted models, which decode a reply so that it cannot break the
schema.

The subset (OpenAI's, the narrowest): objects are closed and require every key, so an optional one becomes
nullable; no `default`, `oneOf`, `allOf`; a `$ref` stands alone. References are written out and `const`
becomes a one-word `enum`, which Gemini needs. Bounds such as `minimum` are refused by some models: they move
into the description, and the reply is checked against them here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import BaseModel

Json = dict[str, Any]

_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matching {}",
    "format": "format {}",
}
_REFUSED = (
    "allOf",
    "patternProperties",
    "prefixItems",
    "not",
    "if",
    "propertyNames",
    "contains",
    "dependentRequired",
)
_SILENT = {"minLength": 1}
"""Bounds that go without saying."""


class NotStrict(ValueError):
    """The schema cannot be put in the strict subset: a free-form object, a recursive type, a tuple."""


def json_schema(model: type[BaseModel]) -> Json:
    """The JSON schema of a pydantic model, made once: pydantic takes longer over it than a request takes. It
    is shared, and not to be changed.
    """
    if model not in _schemas:
        _schemas[model] = model.model_json_schema()
    return _schemas[model]


_schemas: WeakKeyDictionary[type[BaseModel], Json] = WeakKeyDictionary()


def strict_schema(source: type[BaseModel] | Mapping[str, Any]) -> Json:
    """`source`, a pydantic model or its JSON schema, in the strict subset. Raises NotStrict where that cannot
    be.
    """
    raw = dict(source) if isinstance(source, Mapping) else json_schema(source)
    schema = _strict(raw, raw.get("$defs", {}), ())
    if schema.get("type") != "object":
        raise NotStrict("the root is not an object")
    return schema


def _strict(node: Any, defs: Json, inside: tuple[str, ...]) -> Json:
    if not isinstance(node, Mapping):
        raise NotStrict("a schema that allows anything")
    if "$ref" in node:
        target = str(node["$ref"]).rsplit("/", 1)[-1]
        if target in inside:
            raise NotStrict(f"{target} contains itself")
        if target not in defs:
            raise NotStrict(f"unknown reference {node['$ref']}")
        beside = {key: value for key, value in node.items() if key in ("description", "default")}
        return _strict({**defs[target], **beside}, defs, (*inside, target))
    refused = next((key for key in _REFUSED if key in node), None)
    if refused:
        raise NotStrict(f"'{refused}' has no strict form")
    options = node.get("anyOf") or node.get("oneOf")
    result: Json
    if options:
        result = {"anyOf": [_strict(option, defs, inside) for option in options]}
    elif "const" in node or "enum" in node:
        result = _enum(node)
    else:
        result = _typed(node, defs, inside)
    description = _description(node)
    return {**result, "description": description} if description else result


def _enum(node: Mapping[str, Any]) -> Json:
    if "type" not in node:
        raise NotStrict("an enumeration without a type")
    return {"type": node["type"], "enum": list(node["enum"]) if "enum" in node else [node["const"]]}


def _typed(node: Mapping[str, Any], defs: Json, inside: tuple[str, ...]) -> Json:
    kind = node.get("type")
    if kind is None:
        raise NotStrict("a schema that allows anything")
    kinds = kind if isinstance(kind, list) else [kind]
    result: Json = {"type": kind}
    if "object" in kinds:
        result.update(_object(node, defs, inside))
    if "array" in kinds:
        result["items"] = _strict(node.get("items"), defs, inside)
    return result


def _object(node: Mapping[str, Any], defs: Json, inside: tuple[str, ...]) -> Json:
    properties = node.get("properties", {})
    if node.get("additionalProperties", not properties) not in (False, None) and not (
        properties and node["additionalProperties"] is True
    ):
        raise NotStrict("an object with free keys")
    required = set(node.get("required", ()))
    result = {
        name: _strict(child, defs, inside)
        if name in required
        else _nullable(child, _strict(child, defs, inside))
        for name, child in properties.items()
    }
    return {"properties": result, "required": list(result), "additionalProperties": False}


def _nullable(original: Mapping[str, Any], strict: Json) -> Json:
    """An optional property: null stands for 'left out', and the description says what that means."""
    default = original.get("default")
    description = strict.pop("description", "")
    if default not in (None, "", [], {}) and not _allows_null(strict):
        description = f"{description} (null: {json.dumps(default, ensure_ascii=False)})".strip()
    if not _allows_null(strict):
        strict = {"anyOf": [*strict["anyOf"], {"type": "null"}]} if "anyOf" in strict else _or_null(strict)
    return {**strict, "description": description} if description else strict


def _or_null(strict: Json) -> Json:
    kind = strict["type"]
    if "properties" in strict or "items" in strict:
        return {"anyOf": [strict, {"type": "null"}]}
    strict = {**strict, "type": [*kind, "null"] if isinstance(kind, list) else [kind, "null"]}
    if "enum" in strict:
        strict["enum"] = [*strict["enum"], None]
    return strict


def _allows_null(node: Mapping[str, Any]) -> bool:
    kind = node.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return True
    options = node.get("anyOf") or node.get("oneOf") or ()
    return any(isinstance(option, Mapping) and _allows_null(option) for option in options)


def _description(node: Mapping[str, Any]) -> str:
    """The description, with those bounds that it does not speak of itself."""
    described = str(node.get("description", ""))
    bounds = [
        text.format(node[key])
        for key, text in _BOUNDS.items()
        if key in node and node[key] != _SILENT.get(key, object()) and str(node[key]) not in described
    ]
    return f"{described} ({', '.join(bounds)})".strip() if bounds else described


def drop_nulls(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """`value` without the nulls that stand for 'left out': keys that `schema` (as pydantic made it) lets be
    absent but not be null.
    """
    root = schema if root is None else root
    if "$ref" in schema:
        target = root.get("$defs", {}).get(str(schema["$ref"]).rsplit("/", 1)[-1], {})
        return drop_nulls(value, target, root)
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        return [drop_nulls(item, schema["items"], root) for item in value]
    if not isinstance(value, dict):
        return value
    options = [
        option
        for option in schema.get("anyOf", ())
        if isinstance(option, Mapping) and not _allows_null(option)
    ]
    if len(options) == 1:
        return drop_nulls(value, options[0], root)
    required = set(schema.get("required", ()))
    properties = schema.get("properties", {})
    return {
        key: drop_nulls(item, properties[key], root) if key in properties else item
        for key, item in value.items()
        if not (
            item is None and key in properties and key not in required and not _allows_null(properties[key])
        )
    }
