"""The marker `alfworld`: without the extra its tests are skipped, and say what they miss."""

from __future__ import annotations

import importlib.util

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what would play a game where none can be played."""
    missing = [name for name in ("alfworld", "textworld") if importlib.util.find_spec(name) is None]
    for item in items:
        if missing and item.get_closest_marker("alfworld"):
            reason = f"needs the extra `alfworld` (missing: {', '.join(missing)}): make test-alfworld"
            item.add_marker(pytest.mark.skip(reason=reason))
