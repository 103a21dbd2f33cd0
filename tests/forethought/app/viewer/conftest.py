"""The viewer's own application over a database of the test, with a scripted model behind its runs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from forethought.app.viewer.command import ViewOptions
from forethought.app.viewer.local import LocalRuns
from forethought.app.viewer.site import make_site
from forethought.settings import Settings
from forethought.shutdown import Shutdown
from forethought.storage import address_of, open_threads

ADDRESS = "http://127.0.0.1:8123"


@dataclass
class Browser:
    """A client of the viewer that follows redirects, as a browser does."""

    client: httpx.AsyncClient
    runs: LocalRuns
    shutdown: Shutdown

    async def get(self, path: str, **options: Any) -> httpx.Response:
        """The page at a path below /view."""
        return await self.client.get(f"/view{path}", **options)

    async def post(self, path: str, data: Mapping[str, Any] | None = None, **options: Any) -> httpx.Response:
        """The page that a form brings."""
        return await self.client.post(f"/view{path}", data=data, **options)

    async def settled(self, thread: str) -> str:
        """The thread's page once nothing runs any more."""
        async with asyncio.timeout(20):
            while await self.runs.is_running(thread):
                await asyncio.sleep(0.02)
        return unescape((await self.get(f"/threads/{thread}")).text)


Open = Callable[..., AbstractAsyncContextManager[Browser]]


@pytest.fixture
def viewer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Open:
    """Open the viewer: `async with viewer() as browser`. Options are those of `forethought view`."""
    monkeypatch.chdir(tmp_path)

    @asynccontextmanager
    async def opened(client: str = "127.0.0.1", **options: Any) -> AsyncIterator[Browser]:
        settings, shutdown = Settings(), Shutdown()
        async with open_threads(address_of(settings), settings.key) as saver:
            runs = LocalRuns(saver, ViewOptions(**options), shutdown)
            app = httpx.ASGITransport(make_site(runs, settings), client=(client, 50000))
            async with httpx.AsyncClient(transport=app, base_url=ADDRESS, follow_redirects=True) as http:
                yield Browser(http, runs, shutdown)
            shutdown.request(at_once=True)
            await runs.close()

    return opened


def thread_of(page: httpx.Response) -> str:
    """The thread whose page it is."""
    found = re.fullmatch(r"/view/threads/([^/]+)", page.url.path)
    assert found, f"{page.status_code} {page.url}: {page.text[:2000]}"
    return found[1]
