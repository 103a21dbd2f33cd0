"""OpenTelemetry spans, where the operator wants them (FORETHOUGHT_TRACING=otel, extra `otel`).

Where to, how often and under which service name is said by OpenTelemetry's own variables, such as
OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_SERVICE_NAME. A provider that the process has already is used as it is.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from forethought.redaction import redactor
from forethought.settings import Settings
from forethought.telemetry.langsmith import redact_traces
from forethought.telemetry.where import here

if TYPE_CHECKING:
    from forethought.telemetry.operations import Operation

_tracer: Any = None
"""None: no spans are made, and nothing of OpenTelemetry is loaded."""
_NAMES = {
    "chat": "chat {}",
    "execute_tool": "execute_tool {}",
    "invoke_agent": "invoke_agent {}",
    "node": "{}",
}
_CLIENT = ("chat",)


class TracingError(ValueError):
    """Spans cannot be made: one line that says what to do."""


def enable(settings: Settings) -> None:
    """Make spans from now on, if `settings` say so, once a process; keep secrets from LangSmith. Raises
    TracingError."""
    global _tracer
    redact_traces(settings)
    if settings.tracing != "otel" or _tracer is not None:
        return
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
    except ImportError as error:
        raise TracingError(
            "FORETHOUGHT_TRACING=otel needs OpenTelemetry: pip install 'forethought[otel]'"
        ) from error
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        trace.set_tracer_provider(_provider())
    _tracer = trace.get_tracer("forethought")


def _provider() -> Any:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({SERVICE_NAME: "forethought"}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    # What is still to be sent is sent at the end.
    atexit.register(provider.shutdown)
    return provider


@contextmanager
def span(done: Operation) -> Iterator[None]:
    """A span around an operation: its attributes are read at the end. Nothing where tracing is off."""
    if _tracer is None:
        yield
        return
    from opentelemetry.trace import SpanKind, Status, StatusCode

    kind = SpanKind.CLIENT if done.kind in _CLIENT else SpanKind.INTERNAL
    scrub = redactor()
    name = scrub(_NAMES[done.kind].format(done.name))
    started = _tracer.start_as_current_span(
        name, kind=kind, record_exception=False, set_status_on_exception=False
    )
    with started as made:
        try:
            yield
        finally:
            for key, value in {**_place(), **_of(done)}.items():
                made.set_attribute(key, scrub(value) if isinstance(value, str) else value)
            if done.outcome in ("failed", "error"):
                made.set_attribute("error.type", scrub(done.error))
                # A failed tool call or model reply is part of a run's life; only an exception breaks it.
                made.set_status(Status(StatusCode.ERROR, scrub(done.error)))


def _place() -> dict[str, str]:
    place = here()
    names = {
        "thread_id": "gen_ai.conversation.id",
        "run_id": "forethought.run_id",
        "node": "forethought.node",
    }
    return {names.get(key, f"forethought.{key}"): value for key, value in place.items()}


def _of(done: Operation) -> dict[str, Any]:
    kind = {} if done.kind == "node" else {"gen_ai.operation.name": done.kind}
    return {**kind, "forethought.outcome": done.outcome, **done.attributes}
