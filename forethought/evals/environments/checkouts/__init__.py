"""Public repositories that are run where the user has them: each in its own process, never copied here."""

from __future__ import annotations

import atexit
import threading
from pathlib import Path
from typing import Any

from forethought.evals.environments.process import WorkerProcess
from forethought.evals.types import InfrastructureError

_KEPT: dict[tuple[str, str], WorkerProcess] = {}
_LOCK = threading.Lock()


def open_checkout(worker: str, folder: Path, *arguments: str) -> WorkerProcess:
    """A process that runs the checkout in `folder` by `worker`, a module beside this one."""
    module = f"{__name__}.{worker}"
    return WorkerProcess(f"{folder.name} ({worker})", ("-m", module, str(folder.resolve()), *arguments))


def ask_checkout(worker: str, folder: str, operation: str, **arguments: Any) -> Any:
    """Ask the one process that serves this checkout until the program ends. Waits for the answer.

    Raises InfrastructureError where it breaks; the next question starts it anew.
    """
    key = (worker, folder)
    with _LOCK:
        process = _KEPT.get(key) or _KEPT.setdefault(key, open_checkout(worker, Path(folder)))
    try:
        return process.ask(operation, **arguments)
    except InfrastructureError:
        with _LOCK:
            _KEPT.pop(key, None)
        process.close()
        raise


@atexit.register
def _close() -> None:
    for process in _KEPT.values():
        process.close()
