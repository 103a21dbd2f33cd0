"""What a run does, told to those who operate it: log lines, and OpenTelemetry spans (extra `otel`)."""

from forethought.telemetry.operations import Operation, entered, observed, operation, write_event
from forethought.telemetry.tracing import TracingError, enable

__all__ = ["Operation", "TracingError", "enable", "entered", "observed", "operation", "write_event"]
