"""Reading a tool agent's reply."""

from __future__ import annotations

import pytest

from forethought.prompts.tool_choice import tool_choice_spec
from forethought.state.context import Context
from tests.support.agent import World
from tests.support.replies import call
from tests.support.strict_subset import openai_faults

TOOLS = {"lookup": World().tool()}


def test_arguments_written_as_text_are_read() -> None:
    choice = tool_choice_spec(TOOLS, Context()).parse({**call(), "arguments": '{"key": "x"}'})
    assert choice.arguments == {"key": "x"}


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 3_000, '{"key": NaN}', "[1]", "", "null"])
def test_arguments_written_as_text_that_are_no_object_are_a_bad_reply(text: str) -> None:
    with pytest.raises(ValueError, match="arguments must be an object"):
        tool_choice_spec(TOOLS, Context()).parse({**call(), "arguments": text})


def test_half_a_surrogate_pair_in_arguments_written_as_text_does_not_come_through() -> None:
    choice = tool_choice_spec(TOOLS, Context()).parse({**call(), "arguments": '{"key": "\\ud800"}'})
    assert choice.arguments == {"key": "?"}


def test_without_a_tool_there_is_nothing_to_call() -> None:
    spec = tool_choice_spec({}, Context())
    assert spec.schema["properties"]["action"]["enum"] == ["finish", "replan"]
    assert not {"tool", "arguments", "finishes"} & set(spec.schema["properties"])
    assert openai_faults(spec.schema) == []
    assert spec.parse({"action": "finish", "result": "42", "defects": []}).result == "42"
