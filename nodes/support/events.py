"""What is told of a run while it runs: custom stream events. They carry no task id of their own, so each
names its subtask."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from forethought.state.context import Context


def thinking(runtime: Runtime[Context], role: str, **details: Any) -> None:
    """A model call begins."""
    runtime.stream_writer({"event": "thinking", "role": role, **details})


def acting(runtime: Runtime[Context], **details: Any) -> None:
    """A tool call begins."""
    runtime.stream_writer({"event": "acting", **details})
