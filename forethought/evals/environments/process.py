"""A worker process: code that blocks, may crash, or is somebody else's, asked by lines of JSON."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from forethought.evals.types import InfrastructureError

_ROOT = Path(__file__).resolve().parents[3]
"""The package's parent folder, so that the process finds it even if it is not installed."""
_PASSED = ("PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "LD_LIBRARY_PATH", "TMPDIR", "LANG", "LC_ALL")
"""The only environment variables passed to a worker; none is a key."""
SECONDS = 120.0


class WorkerProcess:
    """A Python process that answers requests one by one; see `worker.serve` for its side.

    It hashes as every other one does, so that the same requests always get the same answers. Raises
    InfrastructureError where it breaks.
    """

    def __init__(self, name: str, arguments: Sequence[str]) -> None:
        self.name = name
        self.seconds = SECONDS
        """Time limit of an answer."""
        self._lock = threading.Lock()
        self._closing = threading.Lock()
        """Also held by the thread of an abandoned step, which closes the process."""
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
        self._late = False
        self._process = subprocess.Popen(
            [sys.executable, "-P", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=_environment(),
            text=True,
            encoding="utf-8",
        )

    def ask(self, operation: str, **arguments: Any) -> Any:
        """What the worker's `operation` returns. Waits for it."""
        with self._lock:
            line = self._exchange(json.dumps({"operation": operation, "arguments": arguments}))
        try:
            reply = json.loads(line)
        except ValueError:
            self.close()
            raise InfrastructureError(f"{self.name} ended at {operation}: {self._reason}") from None
        if "error" in reply:
            raise InfrastructureError(f"{self.name} failed at {operation}: {reply['error']}")
        return reply["ok"]

    async def ask_async(self, operation: str, **arguments: Any) -> Any:
        """The same, without holding up anything else."""
        try:
            return await asyncio.to_thread(self.ask, operation, **arguments)
        except asyncio.CancelledError:
            self._process.kill()  # its answer would be taken for that to the next question
            raise

    def _exchange(self, line: str) -> str:
        """The line that answers `line`; '' where the process is gone, or took too long and was ended."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None or stdin.closed:
            return ""
        alarm = threading.Timer(self.seconds, self._expire)
        alarm.start()
        try:
            stdin.write(line + "\n")
            stdin.flush()
            return stdout.readline()
        except BrokenPipeError:
            return ""
        finally:
            alarm.cancel()

    def _expire(self) -> None:
        self._late = True
        self._process.kill()

    def close(self) -> None:
        """End the process: it has nothing to save."""
        with self._closing:
            if self._errors.closed:
                return
            self._process.kill()
            self._process.communicate()
            self._errors.seek(0)
            lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
            last = lines[-1][:300] if lines else f"exit status {self._process.returncode}"
            self._reason = f"no answer within {self.seconds:g} s" if self._late else last
            self._errors.close()

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    return {
        **{name: os.environ[name] for name in _PASSED if name in os.environ},
        "PYTHONPATH": path,
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",  # nothing is written into the user's checkout
    }


_WORKERS: dict[tuple[str, str], WorkerProcess] = {}
_LOCK = threading.Lock()


def open_checkout(worker: str, folder: Path, *arguments: str) -> WorkerProcess:
    """A process that runs the checkout in `folder` by `worker`, a module of `checkouts`."""
    module = f"forethought.evals.environments.checkouts.{worker}"
    return WorkerProcess(f"{folder.name} ({worker})", ("-m", module, str(folder.resolve()), *arguments))


def ask_checkout(worker: str, folder: str, operation: str, **arguments: Any) -> Any:
    """Ask the one process that serves this checkout until the program ends. Waits for the answer.

    Raises InfrastructureError where it breaks; the next question starts it anew.
    """
    key = (worker, folder)
    with _LOCK:
        process = _WORKERS.get(key) or _WORKERS.setdefault(key, open_checkout(worker, Path(folder)))
    try:
        return process.ask(operation, **arguments)
    except InfrastructureError:
        with _LOCK:
            _WORKERS.pop(key, None)
        process.close()
        raise


@atexit.register
def _close() -> None:
    for process in _WORKERS.values():
        process.close()
