"""What a run does, told to those who operate it: log lines, and OpenTelemetry spans (extra `otel`)."""

from forethought.telemetry.operations import Operation, observed, operation, set_log_context, write_event
from forethought.telemetry.tracing import TracingError, enable

__all__ = ["Operation", "TracingError", "enable", "observed", "operation", "set_log_context", "write_event"]
