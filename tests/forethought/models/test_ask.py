"""Asking over real HTTP: retries, repairs, cross-checks, methods, cost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel, Field

from forethought.models import (
    ConfigurationError,
    Function,
    Message,
    ModelError,
    Models,
    ReplyError,
    ReplySpec,
    TransportError,
    reply_spec,
)
from tests.forethought.models.conftest import Serve
from tests.support.model_server import Fault, Reply

MESSAGES = [Message("system", "You add."), Message("user", "2 + 3?")]
GOOD = {"total": 5, "note": "sum"}


class Sum(BaseModel):
    """A sum."""

    total: int = Field(ge=0, description="The sum.")
    note: str = "none"


async def ask(models: Models, **options: Any) -> Any:
    defaults = {"role": "tool", "model": "openai:gpt-4.1", "messages": MESSAGES, "reply": reply_spec(Sum)}
    return await models.ask(**{**defaults, **options})


async def test_half_a_surrogate_pair_is_not_sent(serve: Serve) -> None:
    models, server = serve(GOOD)
    await ask(models, messages=[Message("system", "\ud83c"), Message("user", "caf\udce9")])
    assert server.requests[0].messages == [("system", "?"), ("user", "caf?")]


async def test_a_strict_schema_is_sent_and_the_reply_validated(serve: Serve) -> None:
    models, server = serve(Reply(GOOD, prompt_tokens=70, completion_tokens=9, cached_tokens=64))
    asked = await ask(models)
    assert asked.reply == Sum(total=5, note="sum")
    assert (asked.text, asked.repairs, asked.model) == ('{"total": 5, "note": "sum"}', 0, "openai:gpt-4.1")
    [seen] = server.requests
    assert (seen.method, seen.reply_name, seen.role_text) == ("schema", "Sum", "You add.")
    assert seen.last == "2 + 3?"
    assert seen.body["response_format"]["json_schema"]["strict"] is True
    assert seen.schema["required"] == ["total", "note"]
    assert not seen.body.get("stream")
    assert seen.body["model"] == "gpt-4.1"
    used = asked.usage
    assert (used["calls"], used["input_tokens"], used["output_tokens"]) == (1, 70, 9)
    assert used["cached_tokens"] == 64
    assert used["seconds"] > 0


async def test_null_for_an_optional_field_means_its_default(serve: Serve) -> None:
    models, _ = serve({"total": 5, "note": None})
    assert (await ask(models)).reply.note == "none"


@pytest.mark.parametrize("kind", ["429", "500", "529", "drop", "dropmid", "badbody", "hang"])
async def test_a_failed_transport_is_tried_again(kind: str, serve: Serve) -> None:
    models, server = serve(Fault(kind), GOOD, request_timeout_s=0.5 if kind == "hang" else 20)
    asked = await ask(models)
    assert (asked.reply.total, asked.repairs) == (5, 0)
    assert len(server.requests) == 2


async def test_retries_end(serve: Serve) -> None:
    models, server = serve(Fault("503", message="overloaded\nby far"), request_retries=2)
    with pytest.raises(
        TransportError, match=r"gave no reply in 3 tries; the last: HTTP 503: .*overloaded by far"
    ) as caught:
        await ask(models)
    assert len(server.requests) == 3
    assert caught.value.usage["calls"] == 1


@pytest.mark.parametrize(
    ("fault", "words", "methods"),
    [
        (Fault("400", message="bad temperature"), "bad temperature", 5),
        (Fault("404", message="model x does not exist"), "no such model", 1),
        (Fault("401", message="wrong key"), "the key was refused", 1),
        (Fault("403"), "lacks permission", 1),
        (Fault("429", code="insufficient_quota", retry_after="0.02"), "quota is spent", 1),
        (Fault("429", type="insufficient_quota"), "quota is spent", 1),
    ],
)
async def test_what_cannot_change_is_not_tried_again_by_the_same_method(
    fault: Fault, words: str, methods: int, serve: Serve
) -> None:
    models, server = serve(fault)
    with pytest.raises(ConfigurationError, match=words) as caught:
        await ask(models)
    assert [seen.method for seen in server.requests] == ["schema", "function", "object", "prompt", "prompt"][
        :methods
    ]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (Fault("empty"), "the reply is empty"),
        (Fault("length"), "cut off at the length limit"),
        (Reply(GOOD, finish_reason="length"), "cut off at the length limit"),
        (Fault("badjson"), "no JSON object"),
        (Reply("I would say five."), "no JSON object"),
        (Reply("[5]"), "a JSON object is needed"),
        (Reply({"total": -1, "note": ""}), "total: Input should be greater than or equal to 0 (got -1)"),
        (Reply({"note": ""}), "total: Field required"),
    ],
)
async def test_a_bad_reply_is_sent_back_with_what_is_wrong(
    bad: Fault | Reply, problem: str, serve: Serve
) -> None:
    models, server = serve(bad, GOOD)
    asked = await ask(models)
    assert (asked.repairs, asked.reply.total) == (1, 5)
    first, second = server.requests
    assert second.messages[:2] == first.messages
    assert [role for role, _ in second.messages[2:]] == ["assistant", "user"]
    assert problem in second.last
    assert "pydantic" not in second.text
    assert (asked.usage["calls"], asked.usage["input_tokens"]) == (2, 200)


async def test_two_repairs_and_no_more(serve: Serve) -> None:
    models, server = serve(Reply("five", prompt_tokens=10, completion_tokens=3))
    with pytest.raises(ReplyError, match=r"Sum: no valid reply after 2 repairs: .* no JSON") as caught:
        await ask(models)
    assert len(server.requests) == 3
    used = caught.value.usage
    assert (used["calls"], used["input_tokens"], used["output_tokens"], used["unpriced"]) == (3, 30, 9, 3)
    assert "no JSON object" in caught.value.problem


async def test_an_error_carries_what_was_spent_before_it(serve: Serve) -> None:
    models, _ = serve(Reply("five", prompt_tokens=10, completion_tokens=3), Fault("401"))
    with pytest.raises(ModelError) as caught:
        await ask(models)
    assert (caught.value.usage["calls"], caught.value.usage["input_tokens"]) == (2, 10)


@pytest.mark.parametrize(
    "refusal", [Fault("refusal", message="I cannot do sums."), Reply("", finish_reason="content_filter")]
)
async def test_a_refusal_is_not_argued_with(refusal: Any, serve: Serve) -> None:
    models, server = serve(refusal)
    with pytest.raises(ReplyError, match="refused") as caught:
        await ask(models)
    assert len(server.requests) == 1
    assert caught.value.usage["input_tokens"] == 100


async def test_the_cross_check_is_part_of_the_repair(serve: Serve) -> None:
    models, server = serve({"total": 6, "note": ""}, GOOD)
    asked = await ask(models, check=lambda reply: None if reply.total == 5 else "2 + 3 is not 6")
    assert asked.repairs == 1
    assert "2 + 3 is not 6" in server.requests[1].last


@pytest.mark.parametrize(
    ("refuses", "methods"),
    [
        ((), ["schema"]),
        (("schema",), ["schema", "function"]),
        (("schema", "function"), ["schema", "function", "object"]),
        (("schema", "function", "object"), ["schema", "function", "object", "prompt"]),
    ],
)
async def test_methods_are_tried_in_order_and_a_refused_one_is_remembered(
    refuses: tuple[str, ...], methods: list[str], serve: Serve
) -> None:
    models, server = serve(GOOD, refuses=refuses)
    for _ in range(2):
        asked = await ask(models)
        assert (asked.reply.total, asked.usage["calls"]) == (5, 1)
    assert [seen.method for seen in server.requests] == [*methods, methods[-1]]
    assert {seen.reply_name for seen in server.requests} == {"Sum"}


async def test_a_refused_schema_does_not_condemn_the_method_for_other_replies(serve: Serve) -> None:
    unfit = {**reply_spec(Sum).schema, "additionalProperties": True}
    models, server = serve(GOOD)
    for spec in (ReplySpec("Bad", unfit, Sum.model_validate), reply_spec(Sum)):
        await ask(models, reply=spec)
    methods = [(seen.reply_name, seen.method) for seen in server.requests]
    assert methods == [("Bad", "schema"), ("Bad", "function"), ("Bad", "object"), ("Sum", "schema")]


async def test_a_schema_that_cannot_be_strict_is_asked_for_by_a_loose_function(serve: Serve) -> None:
    class Free(BaseModel):
        arguments: dict[str, Any]

    models, server = serve({"arguments": {"a": [1]}})
    assert (await ask(models, reply=reply_spec(Free))).reply.arguments == {"a": [1]}
    [seen] = server.requests
    assert seen.method == "function"
    assert "strict" not in seen.body["tools"][0]["function"]


def functions() -> ReplySpec[Any]:
    """A choice between two functions."""
    properties = {"x": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": ["x"], "additionalProperties": False}
    offered = (Function("double", "Doubles.", schema), Function("halve", "Halves.", schema))
    return ReplySpec("Move", schema, lambda value: value, functions=offered)


async def test_functions_are_offered_and_one_must_be_called(serve: Serve) -> None:
    models, server = serve(Reply(calls=(("halve", {"x": 4}),)))
    assert (await ask(models, reply=functions())).reply == {"function": "halve", "arguments": {"x": 4}}
    [seen] = server.requests
    assert seen.functions == ("double", "halve")
    assert seen.body["tool_choice"] == "required"


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (Reply(calls=(("treble", {"x": 1}),)), "unknown function 'treble': call one of double, halve"),
        (Reply(calls=(("halve", '{"x": '),)), "no JSON object"),
        (Reply("I shall halve it."), "no JSON object"),
    ],
)
async def test_a_bad_call_is_sent_back(bad: Reply, problem: str, serve: Serve) -> None:
    models, server = serve(bad, Reply(calls=(("halve", {"x": 4}),)))
    assert (await ask(models, reply=functions())).repairs == 1
    assert problem in server.requests[1].last


async def test_functions_are_written_out_for_a_provider_that_has_none(serve: Serve) -> None:
    models, server = serve({"function": "double", "arguments": {"x": 2}}, refuses=("functions",))
    assert (await ask(models, reply=functions())).reply == {"function": "double", "arguments": {"x": 2}}
    assert [seen.method for seen in server.requests] == ["functions", "object"]
    assert "halve: Halves." in server.requests[1].last


async def test_only_allowed_models_are_asked(serve: Serve) -> None:
    models, server = serve(GOOD, allowed_models=("a:b", "c:d"))
    with pytest.raises(ConfigurationError, match=r"gpt-4.1 is not allowed here; allowed: a:b, c:d"):
        await ask(models)
    assert server.requests == []


def test_one_models_object_serves_several_event_loops(serve: Serve) -> None:
    models, _ = serve(GOOD)
    for _ in range(3):
        assert asyncio.run(ask(models)).reply.total == 5
