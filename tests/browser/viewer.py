"""`forethought view` as a process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote


class Viewer:
    """The viewer over the database in `folder`, whose runs ask the model at `model_url`, if there is one."""

    def __init__(
        self, folder: Path, model_url: str | None, *flags: str, settings: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder
        self.threads: dict[str, str] = {}
        """Ids of the threads, by the names of tests/browser/threads.py."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.origin = f"http://127.0.0.1:{self.port}"
        self._log_path = folder / f"viewer-{self.port}.log"
        self._read = 0
        with self._log_path.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "forethought", "view", "--port", str(self.port), *flags],
                env={**os.environ, **settings_of(folder, model_url), **(settings or {})},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def wait_until_ready(self, timeout_s: float = 60) -> None:
        """Return when it answers; raises RuntimeError with its log when it ends before."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError(f"the viewer does not answer:\n{self._log_path.read_text()}")

    def path(self, name: str, *rest: str) -> str:
        """The path of a thread's page."""
        return "/".join(["/view/threads", quote(self.threads[name], safe=""), *rest])

    def new_log(self) -> str:
        """What it wrote since the last call."""
        text = self._log_path.read_text("utf-8")
        new, self._read = text[self._read :], len(text)
        return new

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


def settings_of(folder: Path, model_url: str | None) -> dict[str, str]:
    """Environment variables that point a command at this database and this model."""
    model = {"FORETHOUGHT_BASE_URL": model_url, "FORETHOUGHT_MODEL": "openai:scripted"} if model_url else {}
    return {
        **model,
        "FORETHOUGHT_DATA_DIR": str(folder / "data"),
        "FORETHOUGHT_REQUEST_RETRIES": "0",
        "FORETHOUGHT_EFFORT": "paper",
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
