"""The command sends its spans to the operator's collector and LangSmith, and writes its log as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from forethought.app.main import run_cli
from forethought.extras import install_command
from tests.forethought.telemetry.conftest import LangSmith
from tests.support.agent import Script
from tests.support.model_server import ModelServer
from tests.support.replies import finish
from tests.support.web_server import Asked, Sent, WebServer

ROOT = Path(__file__).parents[3]
SECRET = "sk-very-secret-value"


@pytest.fixture
def collector() -> Iterator[tuple[str, list[Any]]]:
    """The address of a collector, and the spans that it got."""
    spans: list[Any] = []

    def take(asked: Asked) -> Sent:
        for resource in ExportTraceServiceRequest.FromString(asked.body).resource_spans:
            for scope in resource.scope_spans:
                spans.extend((resource.resource, span) for span in scope.spans)
        return Sent()

    server = WebServer(take)
    yield server.url, spans
    server.close()


def attributes(span: Any) -> dict[str, str]:
    return {item.key: item.value.string_value or str(item.value.int_value) for item in span.attributes}


def test_a_run_of_the_command(
    collector: tuple[str, list[Any]],
    langsmith: LangSmith,
    model_server: Callable[..., ModelServer],
    tmp_path: Path,
) -> None:
    address, spans = collector
    server = model_server(Script(moves={"a": [finish("done")]}))
    done = subprocess.run(
        [sys.executable, "-m", "forethought", "run", f"is {SECRET} a key?", "--json", "--thread", "t1"],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "FORETHOUGHT_TRACING": "otel",
            "FORETHOUGHT_LOG_FORMAT": "json",
            "FORETHOUGHT_LOG_LEVEL": "info",
            "FORETHOUGHT_BASE_URL": server.url,
            "FORETHOUGHT_MODEL": "openai:scripted",
            "FORETHOUGHT_API_KEY": SECRET,
            "OTEL_EXPORTER_OTLP_ENDPOINT": address,
            **langsmith.variables,
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    (root,) = [span for _, span in spans if not span.parent_span_id]
    assert root.name == "invoke_agent forethought"
    assert {span.trace_id for _, span in spans} == {root.trace_id}
    assert {attributes(span)["gen_ai.conversation.id"] for _, span in spans} == {"t1"}
    (run_id,) = {attributes(span)["forethought.run_id"] for _, span in spans}
    names = [item.value.string_value for item in spans[0][0].attributes if item.key == "service.name"]
    assert names == ["forethought"]
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert {line["run_id"] for line in lines if line["logger"] == "forethought.run"} == {run_id}
    assert "prospective_reflector" in langsmith.told
    assert SECRET not in done.stderr + str(spans) + langsmith.told


def test_without_the_extra_the_way_to_it_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    monkeypatch.setenv("FORETHOUGHT_TRACING", "otel")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-a-test")
    assert run_cli(["run", "x", "--model", "openai:gpt-4.1"]) == 2
    assert capsys.readouterr().err.strip() == (
        "forethought: FORETHOUGHT_TRACING=otel needs OpenTelemetry: " + install_command("otel")
    )
