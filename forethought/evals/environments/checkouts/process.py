"""This side of a process that runs a public repository's code: what is asked of it, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from forethought.evals.types import InfrastructureError

_ROOT = Path(__file__).resolve().parents[4]
"""The folder that holds the package: so that the process finds it, installed or not."""
_WORKERS = "forethought.evals.environments.checkouts"
_KEPT = ("PATH", "SYSTEMROOT", "TMPDIR", "LANG")
SECONDS = 120.0
"""What any answer may take; tools have their own, shorter limit inside."""


class Checkout:
    """Code of a public repository, run by `worker` (tau_bench or tau2) in a process that holds one episode.

    It sees no variable of this process's environment that could hold a key, and hashes as every other one
    does, so that the same requests always get the same answers. Raises InfrastructureError where it breaks.
    """

    def __init__(self, worker: str, folder: Path, *arguments: str) -> None:
        self.name = f"{folder.name} ({worker})"
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        environment |= {"PYTHONPATH": str(_ROOT), "PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"  # nothing is written into the user's checkout
        command = [sys.executable, "-P", "-m", f"{_WORKERS}.{worker}", str(folder.resolve()), *arguments]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
            text=True,
            encoding="utf-8",
        )
        self._one = threading.Lock()

    def ask(self, operation: str, **arguments: Any) -> Any:
        """What the worker's `operation` returns. Waits for it."""
        with self._one:
            line = self._exchanged(json.dumps({"operation": operation, "arguments": arguments}))
        if not line:
            self.close()
            raise InfrastructureError(f"{self.name} ended at {operation}: {self._last}")
        answer = json.loads(line)
        if "error" in answer:
            raise InfrastructureError(f"{self.name} failed at {operation}: {answer['error']}")
        return answer["ok"]

    async def asked(self, operation: str, **arguments: Any) -> Any:
        """The same, without holding up anything else."""
        return await asyncio.to_thread(self.ask, operation, **arguments)

    def _exchanged(self, line: str) -> str:
        """The line that answers `line`; '' where the process is gone, or took too long and was ended."""
        written, read = self._process.stdin, self._process.stdout
        if written is None or read is None or written.closed:
            return ""
        alarm = threading.Timer(SECONDS, self._process.kill)
        alarm.start()
        try:
            written.write(line + "\n")
            written.flush()
            return read.readline()
        except BrokenPipeError:
            return ""
        finally:
            alarm.cancel()

    def close(self) -> None:
        """End the process."""
        if self._errors.closed:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        self._last = lines[-1][:300] if lines else f"exit status {self._process.returncode}"
        self._errors.close()

    def __enter__(self) -> Checkout:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
