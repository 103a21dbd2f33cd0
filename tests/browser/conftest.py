"""A real browser, and the real viewer over threads of every kind: one of each for this folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.browser.evaluation import prepare_evaluation
from tests.browser.threads import prepare_threads
from tests.browser.viewer import Viewer
from tests.browser.watch import Watch
from tests.forethought.app.scripted import Script
from tests.support.chromium import launch_options
from tests.support.model_server import ModelServer

HERE = Path(__file__).parent
expect.set_options(timeout=20_000)  # a shared machine is slow at times


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder run in one event loop, which the browser's driver is bound to."""
    for item in items:
        if HERE in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(scope="session")
def started_models() -> Iterator[ModelServer]:
    """The model of every run, old and new."""
    server = ModelServer(Script())
    yield server
    server.close()


@pytest.fixture(scope="session")
def viewer(started_models: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    """`forethought view`, over the threads of tests/browser/threads.py."""
    folder = tmp_path_factory.mktemp("viewer")
    started = Viewer(folder, started_models.url, "--evaluations", str(prepare_evaluation(folder / "shop")))
    try:
        started.threads = prepare_threads(folder, started_models)
        started.wait_until_ready()
        yield started
    finally:
        started.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """The machine's Chromium."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options())
        yield browser
        await browser.close()


@pytest.fixture
def models(started_models: ModelServer) -> ModelServer:
    """The model, which has heard nothing yet and solves every task in three steps."""
    started_models.requests.clear()
    started_models.policy = Script()
    return started_models


@pytest.fixture
def watch(viewer: Viewer) -> Iterator[Watch]:
    """What happened behind the test's pages: a stray request or a complaint fails it."""
    watch = Watch(viewer.origin)
    viewer.new_log()
    yield watch
    assert watch.strays == []
    assert watch.complaints == []
    assert "Traceback" not in (log := viewer.new_log()), log


OpenPage = Callable[..., Any]


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Browser, viewer: Viewer, watch: Watch) -> AsyncIterator[OpenPage]:
    """Open a page in a browser of its own: `await open_page("/view/", color_scheme="dark")`."""
    async with AsyncExitStack() as stack:

        async def start(path: str = "", **options: Any) -> Page:
            context = await stack.enter_async_context(
                await browser.new_context(base_url=viewer.origin, **options)
            )
            await watch.follow(context)
            page = await context.new_page()
            if path:
                await page.goto(path)
            return page

        yield start


@pytest_asyncio.fixture(loop_scope="session")
async def page(open_page: OpenPage) -> Page:
    """A page of usual size."""
    page: Page = await open_page()
    return page
