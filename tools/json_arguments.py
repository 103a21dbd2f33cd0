"""The argument model of a tool that comes with a JSON schema instead of Python types.

The schema may be any: what a provider cannot decode strictly is asked for without strictness, and is checked
here before the call.
"""

from __future__ import annotations

import copy
from typing import Any

from langchain_core.utils.json_schema import dereference_refs
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from forethought.text import one_line

Json = dict[str, Any]
_MOST_ERRORS = 3


def arguments_model(name: str, schema: Json) -> type[BaseModel]:
    """A model that takes what `schema` takes and shows itself as `schema`, with references written out and
    closed against unknown arguments. Raises ValueError where it is no schema of an object.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    shown = _without_references(schema)
    if shown.get("type", "object") != "object":
        raise ValueError('does not describe an object; declare {"type": "object"}')
    shown = {"type": "object", "properties": {}, **shown}
    shown.setdefault("additionalProperties", False)
    try:
        Draft202012Validator.check_schema(shown)
    except SchemaError as error:
        raise ValueError(f"is not valid: {one_line(error.message, 200)}") from error
    validator = Draft202012Validator(shown)

    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def model_validate(cls, obj: Any, **options: Any) -> Arguments:
            wrong = [_detail(error) for error in validator.iter_errors(obj)][:_MOST_ERRORS]
            if wrong:
                raise ValidationError.from_exception_data(name, wrong)
            return super().model_validate(obj, **options)

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> Json:
            return copy.deepcopy(shown)

    Arguments.__name__ = Arguments.__qualname__ = name
    return Arguments


def _detail(error: Any) -> InitErrorDetails:
    kind = PydanticCustomError("schema", "{message}", {"message": one_line(error.message, 300)})
    return InitErrorDetails(type=kind, loc=tuple(error.absolute_path), input=None)


def _without_references(schema: Json) -> Json:
    """The schema without references; a part that contains itself is free from there on."""
    known = {**schema, "$defs": {**schema.get("definitions", {}), **schema.get("$defs", {})}}
    shown = dereference_refs(known)
    shown = {key: value for key, value in shown.items() if key not in ("$defs", "definitions", "$schema")}
    if isinstance(properties := shown.get("properties"), dict):
        # A schema may be true (anything) or false (nothing); those who read it here expect an object.
        plain: dict[bool, Json] = {True: {}, False: {"not": {}}}
        shown["properties"] = {
            key: plain[value] if isinstance(value, bool) else value for key, value in properties.items()
        }
    return shown
