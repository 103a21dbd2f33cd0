"""Schemas in the strict subset."""

from __future__ import annotations

import inspect
from typing import Any, Literal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from forethought.models import NotStrict, drop_nulls, reply_spec, strict_schema
from forethought.models.schema import json_schema
from forethought.prompts import replies
from tests.support.strict_subset import gemini_faults, openai_faults

REPLIES = [
    value
    for value in vars(replies).values()
    if inspect.isclass(value)
    and issubclass(value, BaseModel)
    and value.__module__ == "forethought.prompts.replies"
]
OF_TOOLS = ("Reply", "ToolChoice", "PlannedCall")
"""What has no fields, or gets its schema from the tools at hand (test_tool_choice, test_planned_calls)."""
STRICT = [model for model in REPLIES if model.__name__ not in OF_TOOLS]


@pytest.mark.parametrize("model", STRICT, ids=lambda model: model.__name__)
def test_every_reply_type_fits_openai_and_gemini(model: type[BaseModel]) -> None:
    schema = strict_schema(model)
    assert openai_faults(schema) == []
    assert gemini_faults(schema) == []
    assert list(schema["properties"]) == list(json_schema(model)["properties"])
    assert reply_spec(model).strict


class Inner(BaseModel):
    """An inner thing."""

    size: int = Field(default=3, ge=1, le=9, description="How big.")


class Outer(BaseModel):
    kind: Literal["a"]
    choice: Literal["x", "y"] = "x"
    inner: Inner
    other: Inner | None = None
    items: list[Inner] = Field(default_factory=list)
    value: int | str = 4


def test_the_pieces() -> None:
    schema = strict_schema(Outer)
    assert openai_faults(schema) == []
    assert gemini_faults(schema) == []
    made = schema["properties"]
    assert made["kind"] == {"type": "string", "enum": ["a"]}
    assert made["choice"] == {
        "type": ["string", "null"],
        "enum": ["x", "y", None],
        "description": '(null: "x")',
    }
    size = made["inner"]["properties"]["size"]
    assert size == {"type": ["integer", "null"], "description": "How big. (at least 1, at most 9) (null: 3)"}
    assert {"type": "null"} in made["other"]["anyOf"]
    assert made["items"]["anyOf"][1] == {"type": "null"}
    assert {"type": "null"} in made["value"]["anyOf"]


def test_nulls_for_what_may_be_left_out_are_dropped() -> None:
    value = {
        "kind": "a",
        "choice": None,
        "inner": {"size": None},
        "other": {"size": None},
        "items": [{"size": None}, {"size": 2}],
        "value": None,
    }
    assert drop_nulls(value, Outer.model_json_schema()) == {
        "kind": "a",
        "inner": {},
        "other": {},
        "items": [{}, {"size": 2}],
    }
    assert drop_nulls({"other": None, "more": None}, Outer.model_json_schema()) == {
        "other": None,
        "more": None,
    }


class Node(BaseModel):
    children: list[Node]


class FreeForm(BaseModel):
    values: dict[str, int]


class Anything(BaseModel):
    value: Any


class Pair(BaseModel):
    pair: tuple[int, str]


@pytest.mark.parametrize("model", [Node, FreeForm, Anything, Pair, replies.ToolChoice])
def test_what_has_no_strict_form_is_said(model: type[BaseModel]) -> None:
    with pytest.raises(NotStrict):
        strict_schema(model)
    assert not reply_spec(model).strict


@given(
    size=st.none() | st.integers(1, 9), choice=st.sampled_from(["x", "y", None]), value=st.none() | st.text()
)
def test_what_fits_the_strict_schema_validates(
    size: int | None, choice: str | None, value: str | None
) -> None:
    reply = {
        "kind": "a",
        "choice": choice,
        "inner": {"size": size},
        "other": None,
        "items": None,
        "value": value,
    }
    jsonschema.validate(reply, strict_schema(Outer))
    assert reply_spec(Outer).parse(reply).inner.size == (3 if size is None else size)
