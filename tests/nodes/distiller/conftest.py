"""The fixture `distil`: see tests/support/distilling.py."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forethought.settings import Settings
from tests.support.distilling import Distil, make_distil
from tests.support.model_server import ModelServer


@pytest.fixture
def distil(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Distil:
    """Run the compiled distiller with a scripted model."""
    return make_distil(model_server, settings)
