"""Models behind a scripted server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from forethought.models import Models
from forethought.models.live import LiveTransport
from forethought.models.retry import Backoff
from forethought.settings import Settings
from tests.support.model_server import ModelServer, script

Serve = Callable[..., tuple[Models, ModelServer]]


@pytest.fixture
def serve(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Serve:
    """Serve answers in turn, or by a policy: `models, server = serve({"total": 5}, request_retries=2)`."""

    def start(*answers: Any, refuses: tuple[str, ...] = (), **options: Any) -> tuple[Models, ModelServer]:
        server = model_server(answers[0] if callable(answers[0]) else script(*answers), refuses=refuses)
        chosen = settings(server, **options)
        return Models(chosen, LiveTransport(chosen, Backoff(0.001, 0.002))), server

    return start
