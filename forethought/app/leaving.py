"""The event loop of a command, and the end of its process: neither waits for what was broken off.

A call of a plain (not async) tool whose time is up, or that SIGTERM or Ctrl-C broke off, runs on in its
thread, and only the end of the process ends it there. Python would wait for it, twice: when the loop is
closed, and when the process ends.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NoReturn

from forethought.app.errors import CliError

_MOMENT_S = 1.0
"""What threads have to end by themselves: enough for a file that is being written."""


class _Threads(ThreadPoolExecutor):
    """The loop's threads, which its closing does not wait for."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=True)


@contextmanager
def event_loop() -> Iterator[asyncio.Runner]:
    """A loop for several runs. Ctrl-C while an error's way out closes things does not take its place."""
    try:
        with asyncio.Runner() as loop:
            loop.get_loop().set_default_executor(_Threads(thread_name_prefix="asyncio"))
            yield loop
    except KeyboardInterrupt as error:
        told = _told_before(error)
        if told is None:
            raise
        raise told from None


def leave(code: int) -> NoReturn:
    """End the process with this code, from its main thread. Threads that still work have a moment.

    From here on Ctrl-C and SIGTERM end it at once, with the same code.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(code))
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        timer = threading.Timer(_MOMENT_S, _break_off, (code,))
        timer.daemon = True
        # Python calls it when it has waited for the threads.
        atexit.register(timer.cancel)
        timer.start()
    sys.exit(code)


def _break_off(code: int) -> None:
    atexit._run_exitfuncs()  # among them those that send what is traced
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _told_before(error: BaseException) -> CliError | None:
    """The error that was on its way out when this one came."""
    earlier = error.__context__
    while earlier is not None and not isinstance(earlier, CliError):
        earlier = earlier.__context__
    return earlier
