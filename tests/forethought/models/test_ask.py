"""Asking over real HTTP: repairs, cross-checks, methods, cost."""

from __future__ import annotations

from collections.abc import Callable
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
from forethought.models.live import LiveTransport
from forethought.models.retry import Backoff
from forethought.settings import Settings
from tests.support.model_server import Fault, ModelServer, Reply, script

Start = Callable[..., ModelServer]
Make = Callable[..., Settings]
MESSAGES = [Message("system", "You add."), Message("user", "2 + 3?")]
GOOD = {"total": 5, "note": "sum"}


class Sum(BaseModel):
    """A sum."""

    total: int = Field(ge=0, description="The sum.")
    note: str = "none"


def models(settings: Settings) -> Models:
    return Models(settings, LiveTransport(settings, Backoff(0.001, 0.002)))


async def ask(settings: Settings, **more: Any) -> Any:
    given = {
        "role": "tool",
        "model": "openai:gpt-4.1",
        "messages": MESSAGES,
        "reply": reply_spec(Sum),
        **more,
    }
    return await models(settings).ask(**given)


async def test_half_a_surrogate_pair_is_not_sent(model_server: Start, settings: Make) -> None:
    server = model_server(script(GOOD))
    await ask(settings(server), messages=[Message("system", "\ud83c"), Message("user", "caf\udce9")])
    assert server.requests[0].messages == [("system", "?"), ("user", "caf?")]


async def test_a_strict_schema_is_sent_and_the_reply_validated(model_server: Start, settings: Make) -> None:
    server = model_server(script(Reply(GOOD, prompt_tokens=70, completion_tokens=9, cached_tokens=64)))
    asked = await ask(settings(server))
    assert asked.reply == Sum(total=5, note="sum")
    assert (asked.text, asked.repairs, asked.model) == ('{"total": 5, "note": "sum"}', 0, "openai:gpt-4.1")
    [seen] = server.requests
    assert (seen.method, seen.reply_name, seen.role_text, seen.last) == (
        "schema",
        "Sum",
        "You add.",
        "2 + 3?",
    )
    assert seen.body["response_format"]["json_schema"]["strict"] is True
    assert seen.schema["required"] == ["total", "note"]
    assert not seen.body.get("stream")
    assert seen.body["model"] == "gpt-4.1"
    used = asked.usage
    assert (used["calls"], used["input_tokens"], used["output_tokens"], used["cached_tokens"]) == (
        1,
        70,
        9,
        64,
    )
    assert used["seconds"] > 0


async def test_null_for_an_optional_field_means_its_default(model_server: Start, settings: Make) -> None:
    asked = await ask(settings(model_server(script({"total": 5, "note": None}))))
    assert asked.reply.note == "none"


@pytest.mark.parametrize("kind", ["429", "500", "502", "503", "504", "529", "drop", "dropmid", "badbody"])
async def test_a_failed_transport_is_tried_again(kind: str, model_server: Start, settings: Make) -> None:
    server = model_server(script(Fault(kind), Fault(kind), GOOD))
    asked = await ask(settings(server, request_retries=2))
    assert asked.reply.total == 5
    assert asked.repairs == 0
    assert len(server.requests) == 3


async def test_a_hanging_server_is_given_up_and_tried_again(model_server: Start, settings: Make) -> None:
    server = model_server(script(Fault("hang"), GOOD))
    asked = await ask(settings(server, request_timeout_s=0.5))
    assert asked.reply.total == 5
    assert len(server.requests) == 2


async def test_retries_end(model_server: Start, settings: Make) -> None:
    server = model_server(script(Fault("503", message="overloaded")))
    with pytest.raises(
        TransportError, match=r"gave no reply in 3 tries; the last: HTTP 503: .*overloaded"
    ) as caught:
        await ask(settings(server, request_retries=2))
    assert len(server.requests) == 3
    assert caught.value.usage["calls"] == 1
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("400", message="bad temperature"), "bad temperature"),
        (Fault("401", message="wrong key"), "the key was refused"),
        (Fault("403"), "may not"),
        (Fault("404", message="model x does not exist"), "no such model"),
        (
            Fault("429", message="You exceeded your current quota", code="insufficient_quota"),
            "quota is spent",
        ),
    ],
)
async def test_what_cannot_change_is_not_tried_again(
    fault: Fault, words: str, model_server: Start, settings: Make
) -> None:
    server = model_server(script(fault))
    with pytest.raises(ConfigurationError, match=words) as caught:
        await ask(settings(server))
    assert len(server.requests) == 1
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (Fault("empty"), "the reply is empty"),
        (Fault("length"), "cut off at the length limit"),
        (Fault("badjson"), "no JSON object"),
        (Reply("I would say five."), "no JSON object"),
        (Reply("[5]"), "a JSON object is needed"),
        (Reply({"total": -1, "note": ""}), "total: Input should be greater than or equal to 0 (got -1)"),
        (Reply({"note": ""}), "total: Field required"),
    ],
)
async def test_a_bad_reply_is_sent_back_with_what_is_wrong(
    bad: Fault | Reply, problem: str, model_server: Start, settings: Make
) -> None:
    server = model_server(script(bad, GOOD))
    asked = await ask(settings(server))
    assert (asked.repairs, asked.reply.total) == (1, 5)
    first, second = server.requests
    assert second.messages[:2] == first.messages
    assert [role for role, _ in second.messages[2:]] == ["assistant", "user"]
    assert problem in second.last
    assert "pydantic" not in second.text
    assert asked.usage["calls"] == 2
    assert asked.usage["input_tokens"] == 200


async def test_two_repairs_and_no_more(model_server: Start, settings: Make) -> None:
    server = model_server(script(Reply("five", prompt_tokens=10, completion_tokens=3)))
    with pytest.raises(
        ReplyError, match="Sum: no valid reply after 2 repairs: the reply holds no JSON"
    ) as caught:
        await ask(settings(server))
    assert len(server.requests) == 3
    used = caught.value.usage
    assert (used["calls"], used["input_tokens"], used["output_tokens"], used["unpriced"]) == (3, 30, 9, 3)
    assert "no JSON object" in caught.value.problem


async def test_what_was_spent_before_a_transport_failure_is_on_the_error(
    model_server: Start, settings: Make
) -> None:
    server = model_server(script(Reply("five", prompt_tokens=10, completion_tokens=3), Fault("401")))
    with pytest.raises(ModelError) as caught:
        await ask(settings(server))
    assert caught.value.usage["calls"] == 2
    assert caught.value.usage["input_tokens"] == 10


async def test_a_reply_that_is_cut_is_refused_even_if_it_parses(model_server: Start, settings: Make) -> None:
    server = model_server(script(Reply(GOOD, finish_reason="length")))
    with pytest.raises(ReplyError, match="cut off"):
        await ask(settings(server))


@pytest.mark.parametrize(
    "refusal", [Fault("refusal", message="I cannot do sums."), Reply("", finish_reason="content_filter")]
)
async def test_a_refusal_is_not_argued_with(refusal: Any, model_server: Start, settings: Make) -> None:
    server = model_server(script(refusal))
    with pytest.raises(ReplyError, match="refused") as caught:
        await ask(settings(server))
    assert len(server.requests) == 1
    assert caught.value.usage["input_tokens"] == 100


async def test_the_cross_check_is_part_of_the_repair(model_server: Start, settings: Make) -> None:
    server = model_server(script({"total": 6, "note": ""}, GOOD))
    asked = await ask(settings(server), check=lambda reply: None if reply.total == 5 else "2 + 3 is not 6")
    assert asked.repairs == 1
    assert "2 + 3 is not 6" in server.requests[1].last


async def test_a_check_that_crashes_is_a_bug_and_surfaces(model_server: Start, settings: Make) -> None:
    def broken(reply: Sum) -> str | None:
        raise AttributeError("bug")

    with pytest.raises(AttributeError, match="bug"):
        await ask(settings(model_server(script(GOOD))), check=broken)


@pytest.mark.parametrize(
    ("refuses", "methods"),
    [
        ((), ["schema"]),
        (("schema",), ["schema", "function"]),
        (("schema", "function"), ["schema", "function", "prompt"]),
    ],
)
async def test_methods_are_tried_in_order_and_a_refused_one_is_remembered(
    refuses: tuple[str, ...], methods: list[str], model_server: Start, settings: Make
) -> None:
    server = model_server(script(GOOD), refuses=refuses)
    asking = models(settings(server))
    for _ in range(2):
        asked = await asking.ask(role="tool", model="gpt-4.1", messages=MESSAGES, reply=reply_spec(Sum))
        assert asked.reply.total == 5
        assert asked.usage["calls"] == 1
    assert [seen.method for seen in server.requests] == [*methods, methods[-1]]
    assert {seen.reply_name for seen in server.requests} == {"Sum"}


async def test_a_refused_schema_does_not_condemn_the_method_for_other_replies(
    model_server: Start, settings: Make
) -> None:
    class Other(BaseModel):
        total: int

    unfit = {**reply_spec(Sum).schema, "additionalProperties": True}
    bad = ReplySpec("Bad", unfit, Sum.model_validate)
    server = model_server(script(GOOD))
    asking = models(settings(server))
    await asking.ask(role="tool", model="m", messages=MESSAGES, reply=bad)
    await asking.ask(role="tool", model="m", messages=MESSAGES, reply=reply_spec(Other))
    assert [(seen.reply_name, seen.method) for seen in server.requests] == [
        ("Bad", "schema"),
        ("Bad", "function"),
        ("Bad", "prompt"),
        ("Other", "schema"),
    ]


async def test_a_schema_that_cannot_be_strict_is_asked_for_by_a_loose_function(
    model_server: Start, settings: Make
) -> None:
    class Free(BaseModel):
        arguments: dict[str, Any]

    server = model_server(script({"arguments": {"a": [1]}}))
    asked = await ask(settings(server), reply=reply_spec(Free))
    assert asked.reply.arguments == {"a": [1]}
    [seen] = server.requests
    assert seen.method == "function"
    assert "strict" not in seen.body["tools"][0]["function"]


def calling(**more: Any) -> ReplySpec[Any]:
    schema = {
        "type": "object",
        "properties": {"x": {"type": "integer"}},
        "required": ["x"],
        "additionalProperties": False,
    }
    functions = (Function("double", "Doubles.", schema), Function("halve", "Halves.", schema))
    return ReplySpec("Move", schema, lambda value: value, functions=functions, **more)


async def test_functions_are_offered_and_one_must_be_called(model_server: Start, settings: Make) -> None:
    server = model_server(script(Reply(calls=(("halve", {"x": 4}),))))
    asked = await ask(settings(server), reply=calling())
    assert asked.reply == {"function": "halve", "arguments": {"x": 4}}
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
async def test_a_bad_call_is_sent_back(bad: Reply, problem: str, model_server: Start, settings: Make) -> None:
    server = model_server(script(bad, Reply(calls=(("halve", {"x": 4}),))))
    asked = await ask(settings(server), reply=calling())
    assert asked.repairs == 1
    assert problem in server.requests[1].last


async def test_functions_are_written_out_for_a_provider_that_has_none(
    model_server: Start, settings: Make
) -> None:
    server = model_server(script({"function": "double", "arguments": {"x": 2}}), refuses=("functions",))
    asked = await ask(settings(server), reply=calling())
    assert asked.reply == {"function": "double", "arguments": {"x": 2}}
    assert [seen.method for seen in server.requests] == ["functions", "prompt"]
    assert "halve: Halves." in server.requests[1].last


async def test_an_overlong_request_is_not_taken_for_a_refused_method(
    model_server: Start, settings: Make
) -> None:
    fault = Fault("400", message="maximum context length is 8192 tokens, 9000 in messages and functions")
    server = model_server(script(fault))
    with pytest.raises(ConfigurationError, match="context length"):
        await ask(settings(server))
    assert len(server.requests) == 1


async def test_only_allowed_models_are_asked(model_server: Start, settings: Make) -> None:
    server = model_server(script(GOOD))
    with pytest.raises(ConfigurationError, match=r"gpt-4.1 is not allowed here; allowed: a:b, c:d"):
        await ask(settings(server, allowed_models=("a:b", "c:d")))
    assert server.requests == []


def test_one_models_object_serves_several_event_loops(model_server: Start, settings: Make) -> None:
    import asyncio

    asking = models(settings(model_server(script(GOOD))))
    for _ in range(3):
        question = asking.ask(role="tool", model="m", messages=MESSAGES, reply=reply_spec(Sum))
        assert asyncio.run(question).reply.total == 5
