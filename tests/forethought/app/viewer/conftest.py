"""The viewer over the threads that a test's commands have left, without a socket; and, for actions, in the
test's own event loop."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from bs4 import BeautifulSoup
from starlette.testclient import TestClient

from forethought.app.viewer.command import ViewOptions
from forethought.app.viewer.local import LocalRuns
from forethought.app.viewer.site import make_site
from forethought.settings import Settings
from forethought.shutdown import Shutdown
from forethought.storage import address_of, open_threads
from tests.forethought.app.conftest import Cli

Page = Callable[..., BeautifulSoup]
ADDRESS = "http://127.0.0.1:8123"


@asynccontextmanager
async def _runs(**options: Any) -> AsyncIterator[LocalRuns]:
    """The runs of the database of the settings, which are stopped at the end."""
    settings, shutdown = Settings(), Shutdown()
    async with open_threads(address_of(settings), settings.key) as saver:
        runs = LocalRuns(saver, ViewOptions(**options), shutdown)
        yield runs
        shutdown.request(at_once=True)
        await runs.close()


@pytest.fixture
def viewer(cli: Cli) -> Iterator[TestClient]:
    """A client of the viewer over the database of `cli`."""

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        async with _runs() as app.state.runs:
            yield

    site = make_site(lambda request: site.state.runs, Settings(), lifespan=lifespan)
    with TestClient(site, base_url=ADDRESS, client=("127.0.0.1", 50000)) as client:
        yield client


@pytest.fixture
def page(viewer: TestClient) -> Page:
    """The page at a path under /view, parsed: page("/?q=words")."""

    def get(path: str, status: int = 200) -> BeautifulSoup:
        reply = viewer.get(f"/view{path}")
        assert reply.status_code == status, reply.text
        return BeautifulSoup(reply.text, "html.parser")

    return get


@dataclass
class Browser:
    """A client of the viewer that follows redirects, as a browser does."""

    client: httpx.AsyncClient
    runs: LocalRuns

    async def get(self, path: str, **options: Any) -> httpx.Response:
        """The page at a path below /view."""
        return await self.client.get(f"/view{path}", **options)

    async def post(self, path: str, data: Mapping[str, Any] | None = None, **options: Any) -> httpx.Response:
        """The page that a form brings."""
        return await self.client.post(f"/view{path}", data=data, **options)

    async def settled(self, thread: str) -> str:
        """The thread's page once nothing runs any more."""
        async with asyncio.timeout(20):
            while True:
                if not await self.runs.is_running(thread):
                    break
                await asyncio.sleep(0.02)
        return unescape((await self.get(f"/threads/{thread}")).text)


Open = Callable[..., AbstractAsyncContextManager[Browser]]


@pytest.fixture
def open_viewer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Open:
    """Open the viewer: `async with open_viewer() as browser`. Options are those of `forethought view`."""
    monkeypatch.chdir(tmp_path)

    @asynccontextmanager
    async def opened(client: str = "127.0.0.1", **options: Any) -> AsyncIterator[Browser]:
        async with _runs(**options) as runs:
            site = make_site(lambda request: runs, Settings())
            app = httpx.ASGITransport(site, client=(client, 50000))
            async with httpx.AsyncClient(transport=app, base_url=ADDRESS, follow_redirects=True) as http:
                yield Browser(http, runs)

    return opened


def thread_of(page: httpx.Response) -> str:
    """The thread whose page it is."""
    found = re.fullmatch(r"/view/threads/([^/]+)", page.url.path)
    assert found, f"{page.status_code} {page.url}: {page.text[:2000]}"
    return found[1]
