"""The fixture `debug`: see tests/support/debugging.py."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forethought.settings import Settings
from tests.support.debugging import Debug, make_debug
from tests.support.model_server import ModelServer


@pytest.fixture
def debug(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Debug:
    """Run the compiled debugger with a scripted model."""
    return make_debug(model_server, settings)
