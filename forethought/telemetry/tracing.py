"""OpenTelemetry spans, where the operator wants them (FORETHOUGHT_TRACING=otel, extra `otel`).

Where to, how often and under which service name is said by OpenTelemetry's own variables, such as
OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_SERVICE_NAME. A provider that the process has already is used as it is.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from forethought.extras import install_command
from forethought.redaction import redactor
from forethought.settings import Settings
from forethought.telemetry.langsmith import redact_traces

_tracer: Any = None
"""None: tracing is off, and OpenTelemetry is not loaded."""


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
            f"FORETHOUGHT_TRACING=otel needs OpenTelemetry: {install_command('otel')}"
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
def span(name: str, *, is_client: bool) -> Iterator[Any]:
    """A span around an operation; None where tracing is off."""
    if _tracer is None:
        yield None
        return
    from opentelemetry.trace import SpanKind

    kind = SpanKind.CLIENT if is_client else SpanKind.INTERNAL
    with _tracer.start_as_current_span(
        redactor()(name), kind=kind, record_exception=False, set_status_on_exception=False
    ) as started:
        yield started


def describe(span: Any, attributes: Mapping[str, Any], error: str) -> None:
    """Set a span's attributes and, where there was an `error`, its status."""
    from opentelemetry.trace import Status, StatusCode

    redact = redactor()
    for key, value in {**attributes, **({"error.type": error} if error else {})}.items():
        span.set_attribute(key, redact(value) if isinstance(value, str) else value)
    if error:
        span.set_status(Status(StatusCode.ERROR, redact(error)))
