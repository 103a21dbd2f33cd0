"""SIGTERM while a command loads what it needs: it ends with exit code 0 and one line that nothing was begun.

`forethought.draining` takes over once there is work that could finish; a command that has nothing to drain
ends by the signal, as ever. Nothing slow is imported here.
"""

from __future__ import annotations

import contextlib
import os
import signal
from types import FrameType

_LINE = b"forethought: stopped by SIGTERM before anything was begun\n"


def expect_sigterm() -> None:
    """From here on SIGTERM ends this process in order, until `over` is called. Only from the main thread."""
    signal.signal(signal.SIGTERM, _end)


def over() -> None:
    """Something is begun, or there is nothing to drain: SIGTERM is no longer answered for here."""
    if signal.getsignal(signal.SIGTERM) is _end:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _end(number: int, frame: FrameType | None) -> None:
    # No exception: raised within an import, it could be taken for a module that is missing.
    with contextlib.suppress(OSError):
        os.write(2, _LINE)
    os._exit(0)
