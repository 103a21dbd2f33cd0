"""The form that Studio draws of a Context, and what a stranger can do with it: nothing that harms."""

from __future__ import annotations

import re
from typing import Any

import pytest

from forethought.state.context import Context
from tests.server.support import DevServer, Json, go_on, run, run_all

pytestmark = pytest.mark.server
HARMFUL = re.compile(r"key|secret|token$|password|url|address|host|path|dir$|file|module|database|^db$")


@pytest.fixture
def schemas(server: DevServer) -> Json:
    """What the server says of the graph `agent`."""
    assistant = server.client.assistants.search(graph_id="agent")[0]["assistant_id"]
    return dict(server.client.assistants.get_schemas(assistant))


def test_the_form_describes_and_bounds_every_field_and_holds_nothing_that_could_harm(schemas: Json) -> None:
    fields = schemas["context_schema"]["properties"]
    assert set(fields) == set(Context.model_fields)
    assert all(field.get("description") for field in fields.values())
    assert (fields["max_steps"]["minimum"], fields["max_steps"]["maximum"]) == (1, 2000)
    unbounded = [
        name for name, field in fields.items() if field.get("type") == "integer" and "minimum" not in field
    ]
    assert not unbounded
    assert [name for name in fields if HARMFUL.search(name)] == ["max_read_each_files"]  # a number
    assert "\n" not in schemas["context_schema"]["description"], "the headline alone"


def test_its_docstring_says_what_each_field_means() -> None:
    assert all(f"\n{name} ({field.default!r}): " in str(Context.__doc__)
               for name, field in Context.model_fields.items())  # fmt: skip


def test_input_and_output_have_schemas(schemas: Json) -> None:
    assert set(schemas["input_schema"]["properties"]) == {"messages", "task", "files", "folders", "guidance"}
    assert {"answer", "status", "sources", "messages"} <= set(schemas["output_schema"]["properties"])


def test_a_context_out_of_bounds_is_refused_by_name(server: DevServer) -> None:
    refused: list[tuple[Json, str]] = [
        ({"max_steps": 0}, "context.max_steps is 0: must be greater than or equal to 1"),
        ({"plan_threshold": 11}, "context.plan_threshold is 11: must be less than or equal to 10"),
        ({"model": "../../etc"}, "context.model is '../../etc': write provider:name"),
        ({"model": "openai:unlisted"}, "model openai:unlisted is not allowed here"),
    ]
    results = run_all(server, [({"task": "x"}, context) for context, _ in refused])
    for result, (_, said) in zip(results, refused, strict=True):
        assert said in result["__error__"]["message"]
        assert "\n" not in result["__error__"]["message"]
    assert not server.models.requests


def test_a_key_that_is_no_setting_is_refused_and_nothing_is_asked(server: DevServer) -> None:
    refused: list[tuple[Json, str]] = [
        ({"prospectiv_reflection": False}, "did you mean prospective_reflection?"),
        ({"base_url": "http://203.0.113.1/v1", "model": "openai:scripted"}, "unknown setting 'base_url'"),
    ]
    results = run_all(server, [({"task": "x"}, context) for context, _ in refused])
    for result, (_, said) in zip(results, refused, strict=True):
        assert result["status"] == "failed"
        assert said in result["messages"][-1]["content"]
    assert not server.models.requests


def test_a_refused_thread_goes_on_with_the_setting_spelt_right(server: DevServer) -> None:
    thread, _ = run(server, {"task": "x"}, prospectiv_reflection=False)
    went_on = go_on(server, thread, input={"task": "x"}, context={"prospective_reflection": False})
    assert went_on["status"] == "answered"
    assert "PlanDiagnosis" not in server.models.names


def test_an_assistants_misspelt_setting_is_refused_too(server: DevServer) -> None:
    made = server.client.assistants.create("agent", context={"replaning": False})
    result: Any = server.client.runs.wait(None, made["assistant_id"], input={"task": "x"})
    assert "did you mean replanning" in result["messages"][-1]["content"]


@pytest.mark.parametrize("graph", ["debugger", "distiller", "synthesizer"])
def test_the_other_graphs_end_with_an_error_that_names_it(server: DevServer, graph: str) -> None:
    result: Any = server.client.runs.wait(None, graph, input={}, context={"max_usdd": 1}, raise_error=False)
    assert "unknown setting 'max_usdd'; did you mean max_usd?" in result["__error__"]["message"]


def test_what_clients_put_beside_the_settings_is_no_setting(server: DevServer) -> None:
    """Older clients send settings as `configurable`, next to what LangGraph itself keeps there."""
    thread = server.client.threads.create()["thread_id"]
    configurable = {"thread_id": thread, "checkpoint_ns": "", "prospective_reflection": False}
    result = go_on(server, thread, input={"task": "x"}, config={"configurable": configurable})
    assert result["status"] == "answered"
    assert "PlanDiagnosis" not in server.models.names


def test_a_budget_above_the_operators_is_lowered_to_it(server: DevServer) -> None:
    run(server, {"task": "x"}, max_tokens=900_000_000)
    texts = [seen.text for seen in server.models.requests]
    assert any(re.search(r"about 4\d\d thousand tokens", text) for text in texts)
