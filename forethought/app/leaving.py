"""The event loop of the commands that do not use `runner` yet."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

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


def _told_before(error: BaseException) -> CliError | None:
    """The error that was on its way out when this one came."""
    earlier = error.__context__
    while earlier is not None and not isinstance(earlier, CliError):
        earlier = earlier.__context__
    return earlier
