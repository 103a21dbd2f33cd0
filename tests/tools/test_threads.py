from __future__ import annotations

import asyncio
import threading

import pytest

from forethought.tools.threads import SharedWork, in_daemon_thread


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


def test_concurrent_work_is_shared_failures_are_begun_anew_and_old_results_are_let_go() -> None:
    shared: SharedWork[int] = SharedWork(2)
    begun: list[int] = []
    go_on = threading.Event()

    def work() -> int:
        begun.append(1)
        go_on.wait(5)
        if len(begun) == 1:
            raise LookupError("gone")
        return len(begun)

    first, same = shared.start("a", work), shared.start("a", work)
    assert first is same
    go_on.set()
    with pytest.raises(LookupError):
        first.result(5)
    assert [shared.start("a", work).result(5) for _ in range(2)] == [2, 2]
    for key in ("b", "c"):
        shared.start(key, work).result(5)
    assert shared.start("a", work).result(5) == 5
