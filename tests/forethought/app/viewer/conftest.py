"""The viewer over the threads that a test's commands have left, without a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from bs4 import BeautifulSoup
from starlette.testclient import TestClient

from forethought.app.viewer.local import LocalRuns
from forethought.app.viewer.site import make_site
from forethought.settings import Settings
from forethought.storage import address_of, open_threads
from tests.forethought.app.conftest import Cli

Page = Callable[..., BeautifulSoup]


@pytest.fixture
def viewer(cli: Cli) -> Iterator[TestClient]:
    """A client of the viewer over the database of `cli`."""
    settings = Settings()

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        async with open_threads(address_of(settings), settings.key, create=True) as saver:
            app.state.runs = LocalRuns(saver, settings)
            yield

    with TestClient(make_site(None, lifespan=lifespan), base_url="http://127.0.0.1:8123") as client:
        yield client


@pytest.fixture
def page(viewer: TestClient) -> Page:
    """The page at a path under /view, parsed: page("/?q=words")."""

    def get(path: str, status: int = 200) -> BeautifulSoup:
        reply = viewer.get(f"/view{path}")
        assert reply.status_code == status, reply.text
        return BeautifulSoup(reply.text, "html.parser")

    return get
