"""Agents of other frameworks are helped as cheaply as can be, unless a test asks for more."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_effort(clean_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default effort, not that of the other tests."""
    monkeypatch.delenv("FORETHOUGHT_EFFORT")
