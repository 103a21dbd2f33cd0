"""What a thread was run with, kept with each of its checkpoints, so that `resume` needs no flags."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from forethought.secrecy import without_credentials
from forethought.settings import Settings
from graph.context import Context

Json = dict[str, Any]
_SAVED = "forethought"
"""Key of a checkpoint's metadata that holds, as JSON text, what the thread is run with."""


def saved_with(context: Context, settings: Settings) -> Json:
    """The metadata of every checkpoint of a run, from which `resume` reads Context, address and tools."""
    kept = {
        "context": context.model_dump(mode="json"),
        "base_url": without_credentials(settings.base_url),
        "tools": settings.tools,
    }
    return {_SAVED: json.dumps(kept, ensure_ascii=False)}


def saved_of(metadata: Mapping[str, Any] | None) -> Json:
    """What `saved_with` kept; empty for another program's thread. Settings of other releases are dropped."""
    text = (metadata or {}).get(_SAVED)
    kept: Json = json.loads(text) if isinstance(text, str) else {}
    kept["context"] = {
        key: value for key, value in (kept.get("context") or {}).items() if key in Context.model_fields
    }
    return kept
