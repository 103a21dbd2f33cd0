"""Fixtures of the tests of tools."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.web_server import Answer, StartServer, WebServer


@pytest.fixture
def web_server() -> Iterator[StartServer]:
    """Start web servers on this machine, `web_server(answer)`; they end with the test."""
    servers: list[WebServer] = []

    def start(answer: Answer) -> WebServer:
        servers.append(WebServer(answer))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
