"""Pages follow runs: those of this process and those of another one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from starlette.requests import Request

from forethought.app.viewer import live
from forethought.app.viewer.local_threads import LocalThreads
from forethought.app.viewer.runs import UnknownThread
from forethought.settings import Settings
from forethought.storage import address_of, open_threads
from tests.forethought.app.viewer.conftest import Browser, Open, thread_of

Scripted = Callable[..., Any]


async def events(browser: Browser, thread: str, mark: str) -> AsyncIterator[str]:
    """The events of a page with this mark."""
    app = type("App", (), {"state": type("State", (), {"runs_for": lambda request: browser.runs})})
    scope = {"type": "http", "app": app, "path_params": {"thread": thread}, "headers": []}
    reply: Any = await live.changes(Request({**scope, "query_string": f"mark={mark}".encode()}))
    return aiter(reply.body_iterator)


async def test_a_page_is_told_of_what_another_process_does(
    open_viewer: Open, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted()
    monkeypatch.setattr(LocalThreads, "poll_s", 0.01)
    async with open_viewer() as browser:
        thread = thread_of(await browser.post("/new", {"task": "What is 40 + 2?"}))
        assert "data-live" in await browser.settled(thread)
        mark = await browser.runs.mark(thread)
        stream = await events(browser, thread, mark)
        first = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0.05)
        assert not first.done(), "nothing has changed"
        async with open_threads(address_of(Settings())) as other, other.claim(thread):
            assert await first == f"data: {mark}-running\n\n"
            assert "running" in (await browser.get(f"/threads/{thread}")).text
            refused = await browser.post(f"/threads/{thread}/stop")
            assert "stop it there" in refused.text
            assert "data-live" not in refused.text, "what was typed stays until the page is left"
        assert await anext(stream) == f"data: {mark}\n\n"


async def test_a_thread_that_is_deleted_ends_the_events(
    open_viewer: Open, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted()
    monkeypatch.setattr(LocalThreads, "poll_s", 0.01)
    async with open_viewer() as browser:
        with pytest.raises(UnknownThread):
            await events(browser, "nobody", "")
        thread = thread_of(await browser.post("/new", {"task": "What is 40 + 2?"}))
        await browser.settled(thread)
        stream = await events(browser, thread, await browser.runs.mark(thread))
        async with open_threads(address_of(Settings())) as other:
            await other.adelete_thread(thread)
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
