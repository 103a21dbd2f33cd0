"""One server for all tests of this folder: it takes seconds to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.served import served
from tests.server.support import DevServer, agent_policy
from tests.support.model_server import ModelServer

__all__ = ["served"]


@pytest.fixture(scope="session")
def started_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    """The server, whose model is scripted."""
    models = ModelServer(agent_policy())
    settings = {
        "FORETHOUGHT_MAX_TOKENS": "500000",
        "FORETHOUGHT_ALLOWED_MODELS": "openai:scripted,openai:other",
    }
    server = DevServer(tmp_path_factory.mktemp("server"), models, settings)
    yield server
    server.close()
    models.close()


@pytest.fixture
def server(started_server: DevServer) -> DevServer:
    """The server with a model that has heard nothing yet and solves every task in one step."""
    started_server.models.requests.clear()
    started_server.models.policy = agent_policy()
    return started_server
