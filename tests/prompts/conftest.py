"""Services with one tool, so that the prompts of these tests do not change with the other tools."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forethought.models.ask import Models
from forethought.nodes.support.services import Services
from forethought.settings import Settings
from forethought.tools.files import FileStore
from tests.support.agent import World, drive

__all__ = ["drive"]


@pytest.fixture
def services(settings: Callable[..., Settings]) -> Services:
    """What the nodes render prompts with."""
    made = settings()
    return Services(made, {"lookup": World().tool()}, Models(made), FileStore(made.blobs_dir))
