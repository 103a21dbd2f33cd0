"""The fixtures `drive` and `debug`: run the compiled agent, or the debugger, with a scripted model."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forethought.settings import Settings
from tests.support.agent import Drive, make_drive
from tests.support.debugging import Debug, make_debug
from tests.support.model_server import ModelServer


@pytest.fixture
def drive(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Drive:
    """See tests/support/agent.py."""
    return make_drive(model_server, settings)


@pytest.fixture
def debug(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Debug:
    """See tests/support/debugging.py."""
    return make_debug(model_server, settings)
