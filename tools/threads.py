"""Work in a thread that does not keep the process from ending, however long it goes on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


async def in_daemon_thread(work: Callable[[], Result]) -> Result:
    """What `work` returns or raises. Given up by whoever waits, it runs on; at exit it is left alone.

    asyncio.to_thread would not do for other people's parsers: the process waits for its threads at exit.
    """
    future: Future[Result] = Future()
    threading.Thread(target=_run, args=(future, work), daemon=True, name="forethought-work").start()
    return await asyncio.wrap_future(future)


def _run(future: Future[Result], work: Callable[[], Result]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work())
    except BaseException as error:  # raised again where it is awaited
        future.set_exception(error)
