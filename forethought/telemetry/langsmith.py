"""LangSmith's own tracing, switched on by its own variables, with secrets redacted."""

from __future__ import annotations

import os
from typing import Any

from forethought.redaction import redact_json, redactor, register_secrets, secret_values
from forethought.settings import Settings

FLUSH_S = 10.0
"""Longest wait at a command's end for unsent traces."""
_SWITCHES = ("LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING")


def is_on() -> bool:
    """Whether LangSmith's variables switch its tracing on."""
    return any(os.environ.get(name, "").lower() in ("true", "1") for name in _SWITCHES)


def redact_traces(settings: Settings) -> None:
    """Have the process's LangSmith client redact inputs, outputs and metadata.

    A person's task is stored as it was written, so a key in it would be sent. A client that hides its data by
    functions of its own keeps them.
    """
    if not is_on():
        return
    from langsmith.run_trees import get_cached_client

    register_secrets(secret_values(settings))  # those of all graphs: there is one client for all
    client: Any = get_cached_client(anonymizer=_redacted, hide_metadata=_redacted)
    if client._anonymizer is None:  # made by somebody else
        client._anonymizer = _redacted
        client._hide_metadata = client._hide_metadata or _redacted


def _redacted(data: Any) -> Any:
    return redact_json(data, redactor())


def flush() -> None:
    """Send what is still to be sent, which a process that ends would drop; for ten seconds at most."""
    if not is_on():
        return
    from langsmith.run_trees import get_cached_client

    get_cached_client().flush(timeout=FLUSH_S)
