"""Whether a state that was read from a database has the form that the nodes rely on.

State is plain JSON, described by TypedDicts, and everybody who can write to the database can edit it. Nodes
do not look twice at what their own kind has written; so what comes from outside is looked at once, where it
comes in.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, get_type_hints

from langchain_core.messages import BaseMessage
from pydantic import TypeAdapter, ValidationError


class StateError(ValueError):
    """A state that no run has written; one line that names the channel."""


def check_state(schema: type, values: Mapping[str, Any]) -> None:
    """Raises StateError unless each channel of `values` is as `schema` describes it.

    Channels that the schema does not know are left alone: a graph may have inputs of its own.
    """
    for name, value in values.items():
        if name in _channels(schema):
            _check(schema, name, value)


def _check(schema: type, name: str, value: Any) -> None:
    try:
        if name == "messages":
            _check_messages(value)
        else:
            _adapter(schema, name).validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        said = first["msg"][:1].lower() + first["msg"][1:]
        raise StateError(
            f"channel {name} is not what a run writes there ({where or 'all of it'}: {said})"
        ) from (error)
    except RecursionError as error:
        raise StateError(f"channel {name} is nested too deeply") from error


def _check_messages(value: Any) -> None:
    if not isinstance(value, list):
        raise StateError("channel messages is not what a run writes there (it is no list)")
    for message in value:
        # A message is built from the database without a look at its parts.
        good = isinstance(message, BaseMessage) and isinstance(getattr(message, "content", None), str | list)
        if not good or not isinstance(message.id, str | None):
            raise StateError("channel messages is not what a run writes there (it holds what is no message)")


@cache
def _channels(schema: type) -> Mapping[str, Any]:
    return get_type_hints(schema)


@cache
def _adapter(schema: type, name: str) -> TypeAdapter[Any]:
    return TypeAdapter(_channels(schema)[name])
