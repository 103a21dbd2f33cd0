"""The fixture `synthesize`: see tests/support/synthesizing.py."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forethought.settings import Settings
from tests.support.model_server import ModelServer
from tests.support.synthesizing import Synthesize, make_synthesize


@pytest.fixture
def synthesize(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Synthesize:
    """Run the compiled synthesizer with a scripted model."""
    return make_synthesize(model_server, settings)
