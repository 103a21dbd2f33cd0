"""What a thread was run with, kept with each of its checkpoints.

It is read back as data: the Context is gone on with, address and tools are told to a person, who gives them
again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from forethought.redaction import without_credentials
from forethought.settings import Settings
from forethought.state.context import Context

Json = dict[str, Any]
_SAVED = "forethought"
"""Key of a checkpoint's metadata that holds, as JSON text, what the thread is run with."""


def saved_with(context: Context, settings: Settings) -> Json:
    """The metadata of every checkpoint of a run."""
    kept = {
        "context": context.model_dump(mode="json"),
        "base_url": without_credentials(settings.base_url),
        "tools": settings.tools,
    }
    return {_SAVED: json.dumps(kept, ensure_ascii=False)}


class Saved(BaseModel):
    """What `saved_with` kept."""

    context: Json = Field(default_factory=dict)
    base_url: str | None = None
    tools: str | None = None


def saved_of(metadata: Mapping[str, Any] | None) -> Saved:
    """What `saved_with` kept; empty for another program's thread. Settings of other releases are dropped.

    Raises ValueError, in one line, for what it has not written.
    """
    text = (metadata or {}).get(_SAVED)
    if not isinstance(text, str):
        return Saved()
    try:
        saved = Saved.model_validate(json.loads(text))
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise ValueError(f"what it was run with is damaged: {place or 'it is no object'}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError("what it was run with is damaged: it is no JSON, or nested too deeply") from error
    saved.context = {key: value for key, value in saved.context.items() if key in Context.model_fields}
    return saved
