"""Spans kept in memory, as the operator's exporter would get them, and a stand-in for LangSmith."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from forethought.telemetry import tracing
from tests.support.agent import drive
from tests.support.web_server import Sent, WebServer

__all__ = ["drive"]


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The finished spans: call it."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_tracer", provider.get_tracer("test"))
    yield exporter.get_finished_spans
    provider.shutdown()


@dataclass(frozen=True)
class LangSmith:
    """What a process is told to trace to, and what it sent."""

    server: WebServer

    @property
    def variables(self) -> dict[str, str]:
        return {
            "LANGSMITH_TRACING": "true",
            "LANGSMITH_ENDPOINT": self.server.url,
            "LANGSMITH_API_KEY": "lsv2_another_secret",
            "LANGSMITH_DISABLE_RUN_COMPRESSION": "true",
        }

    @property
    def told(self) -> str:
        return "\n".join(asked.body.decode() for asked in self.server.asked)


@pytest.fixture
def langsmith() -> Iterator[LangSmith]:
    """A stand-in for LangSmith on this machine."""
    limits = dict.fromkeys(("scale_up_nthreads_limit", "scale_up_qsize_trigger", "size_limit"), 100)
    limits |= {"use_multipart_endpoint": False, "size_limit_bytes": 10**7, "scale_down_nempty_trigger": 4}
    info = json.dumps({"batch_ingest_config": limits})
    server = WebServer(lambda asked: Sent(info, headers={"Content-Type": "application/json"}))
    yield LangSmith(server)
    server.close()
