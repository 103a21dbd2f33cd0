"""Lessons that are kept sealed: what lies there unsealed was slipped in."""

from __future__ import annotations

import pytest
from langgraph.store.memory import InMemoryStore

from forethought.storage import StorageError
from forethought.storage.sealed_store import SealedStore
from forethought.storage.sealing import sealer_of

PLACE = ("lessons", "ann", "default")


def test_a_lesson_is_kept_sealed_and_none_that_is_not_is_read() -> None:
    sealer = sealer_of(b"k" * 32)
    assert sealer is not None
    inner = InMemoryStore()
    store = SealedStore(inner, sealer)
    store.put(PLACE, "one", {"text": "count the claims"})
    kept = inner.get(PLACE, "one")
    assert kept is not None
    assert "claims" not in str(kept.value)
    assert [item.value for item in store.search(PLACE)] == [{"text": "count the claims"}]
    inner.put(PLACE, "two", {"text": "slipped in"})
    with pytest.raises(StorageError, match="not encrypted"):
        store.get(PLACE, "two")
    with pytest.raises(StorageError, match="not encrypted"):
        store.search(PLACE)
    inner.put(PLACE, "two", {"sealed": {"text": "slipped in"}})
    with pytest.raises(StorageError):
        store.get(PLACE, "two")
