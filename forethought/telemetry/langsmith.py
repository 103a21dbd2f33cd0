"""LangSmith's own tracing, switched on by its own variables, without secrets in what it is sent."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from forethought.redaction import redact_json, redactor, register_secrets, secret_values
from forethought.settings import Settings

if TYPE_CHECKING:
    from langsmith import Client

FLUSH_S = 10.0
"""Longest wait at a command's end for what is still to be sent."""
_SWITCHES = ("LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING")
_HIDING = ("_hide_inputs", "_hide_outputs", "_hide_metadata")
_client: Client | None = None


def guard(settings: Settings) -> None:
    """Have the client that LangChain traces with redacts secrets in what it sends: inputs, outputs, errors,
    metadata, names and tags.

    A person's task is kept as it was written, so a key in it would be sent. There is one client a process,
    and it may be there before any graph is built: whoever made it, it is this one that is guarded, and what
    it hides already stays hidden.
    """
    global _client
    if not any(os.environ.get(name, "").lower() in ("true", "1") for name in _SWITCHES):
        return
    from langsmith.run_trees import get_cached_client

    # Those of all settings that a graph was built with: there is one client for all.
    register_secrets(secret_values(settings))
    client = get_cached_client()
    if client is not _client:
        _guard(client)
        _client = client


def _guard(client: Any) -> None:
    """The client takes such functions only when it is made, so its own fields are set."""
    hiding = {name: getattr(client, name, False) for name in _HIDING}
    for name, hides in hiding.items():
        if hides is not True:
            setattr(client, name, _cleaned(hides))
    # An anonymizer stands in for functions that hide: where the client has such of its own, they are kept.
    if client._anonymizer or not any(callable(hides) for hides in hiding.values()):
        client._anonymizer = _cleaned(client._anonymizer)
    # For names and tags it takes no function, and its objects take no attribute: their class is changed.
    client.__class__ = type(type(client).__name__, (_Guarded, type(client)), {"__slots__": ()})


class _Guarded:
    """A client's ways to tell of a run, with the secrets redacted from its name and tags."""

    __slots__ = ()

    def create_run(self, name: str, *args: Any, **told: Any) -> None:
        """See langsmith.Client."""
        super().create_run(_without_secrets(name), *args, **_labelled(told))  # type: ignore[misc]

    def update_run(self, run_id: Any, **told: Any) -> None:
        """See langsmith.Client."""
        super().update_run(run_id, **_labelled(told))  # type: ignore[misc]


def _labelled(told: dict[str, Any]) -> dict[str, Any]:
    return told | {key: _without_secrets(told[key]) for key in ("name", "tags") if told.get(key)}


def _without_secrets(value: Any) -> Any:
    return redact_json(value, redactor())


def _cleaned(first: Any) -> Callable[[Any], Any]:
    def clean(data: Any) -> Any:
        known = first(data) if callable(first) else data
        return _without_secrets(known)

    return clean


def flush() -> None:
    """Send what is still to be sent: a process that ends would drop it.

    The client waits for as long as that takes, which may be for ever; a command does not.
    """
    if _client is None:
        return
    flushing = threading.Thread(target=_client.flush, daemon=True)
    flushing.start()
    flushing.join(FLUSH_S)
