"""See tests/support/evaluating.py."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forethought.settings import Settings
from tests.support.evaluating import Bureau
from tests.support.model_server import ModelServer


@pytest.fixture
def bureau(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Bureau:
    """Makes workshops and has methods work in them."""
    return Bureau(model_server, settings)
