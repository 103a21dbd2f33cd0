from __future__ import annotations

import asyncio
import threading

import pytest

from forethought.tools.threads import in_daemon_thread


async def test_what_work_returns_or_raises_comes_back() -> None:
    assert await in_daemon_thread(lambda: threading.current_thread().daemon) is True

    def fail() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        await in_daemon_thread(fail)


async def test_work_given_up_ends_without_a_complaint() -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(5)
        ended.set()

    task = asyncio.create_task(in_daemon_thread(work))
    await asyncio.to_thread(begun.wait, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert await asyncio.to_thread(ended.wait, 5)
