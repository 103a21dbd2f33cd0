"""The form of a checkpoint, looked at before LangGraph goes on from it, which trusts any database."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.types import Interrupt

_NEWEST_FORM = 4
"""LangGraph's own number for the form of a checkpoint."""
_INTERRUPT = "__interrupt__"
_VERSION = re.compile(r"[0-9]{1,64}(\.[0-9.e-]{1,64})?")
"""As the savers of both databases count: a whole number, padded, and a random one from 0 to 1 behind it."""


def problem_of(found: CheckpointTuple) -> str:
    """Why this is no checkpoint that LangGraph can go on from; '' for one that it can."""
    checkpoint: Any = found.checkpoint
    if not isinstance(checkpoint, Mapping) or not isinstance(found.metadata, Mapping):
        return "it is no checkpoint of this program"
    form: Any = checkpoint.get("v")
    if not _is_number(form) or form < 1:
        return "it does not say in which form it is written"
    if form > _NEWEST_FORM:
        return f"it is written in form {form}, of a newer release; this one knows {_NEWEST_FORM}: upgrade"
    wrong = next((name for name, fits in _PARTS.items() if not fits(checkpoint.get(name))), None)
    if wrong:
        return f"its part {wrong!r} is missing or of a wrong kind"
    versions = [checkpoint["channel_versions"], *checkpoint["versions_seen"].values()]
    if len({type(version) for part in versions for version in part.values()}) > 1:
        return "its versions cannot be compared"
    if not _is_time(checkpoint["ts"]):
        return "its part 'ts' is no time"
    if not _is_number(found.metadata.get("step", 0)):
        return "its step is no number"
    if not all(_are_interrupts(value) for _, name, value in found.pending_writes or () if name == _INTERRUPT):
        return "what it waits for cannot be read"
    return ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping) and _are_texts(value)


def _are_versions(value: Any) -> bool:
    return _is_object(value) and all(map(_is_version, value.values()))


def _is_version(value: Any) -> bool:
    return bool(_VERSION.fullmatch(value)) if isinstance(value, str) else _is_number(value)


def _are_interrupts(value: Any) -> bool:
    """A task's questions: LangGraph keeps a list of them, and takes a single one too."""
    each = value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else [value]
    return all(isinstance(item, Interrupt) and isinstance(item.id, str) for item in each)


_PARTS: Mapping[str, Callable[[Any], bool]] = {
    "id": lambda value: isinstance(value, str),
    "ts": lambda value: isinstance(value, str),
    "channel_values": _is_object,
    "channel_versions": _are_versions,
    "versions_seen": lambda value: _is_object(value) and all(map(_are_versions, value.values())),
    "updated_channels": lambda value: (
        value is None or (isinstance(value, list | tuple) and _are_texts(value))
    ),
}
