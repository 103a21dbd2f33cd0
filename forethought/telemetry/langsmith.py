"""LangSmith's own tracing, switched on by its own variables, without secrets in what it is sent."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from forethought.secrecy import scrubber
from forethought.settings import Settings

if TYPE_CHECKING:
    from langsmith import Client

FLUSH_S = 10.0
"""Longest wait at a command's end for what is still to be sent."""
_SWITCHES = ("LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING")
_client: Client | None = None


def guard(settings: Settings) -> None:
    """Have the client that LangChain traces with blot secrets out of inputs, outputs and metadata.

    A person's task is kept as it was written, so a key in it would be sent. The client is made once a
    process: one that was made before stays as it is.
    """
    global _client
    if not any(os.environ.get(name, "").lower() in ("true", "1") for name in _SWITCHES):
        return
    from langsmith.anonymizer import create_anonymizer
    from langsmith.run_trees import get_cached_client

    clean = create_anonymizer(lambda text, path: scrubber(settings)(text), max_depth=64)
    _client = get_cached_client(anonymizer=clean, hide_metadata=clean)


def flush() -> None:
    """Send what is still to be sent: a process that ends would drop it.

    The client waits for as long as that takes, which may be for ever; a command does not.
    """
    if _client is None:
        return
    flushing = threading.Thread(target=_client.flush, daemon=True)
    flushing.start()
    flushing.join(FLUSH_S)
