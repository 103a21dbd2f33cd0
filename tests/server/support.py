"""A LangGraph development server as a process of its own, and a scripted model for its agent."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from tests.support import replies
from tests.support.agent import Script
from tests.support.model_server import Answer, ModelServer, Policy

ROOT = Path(__file__).resolve().parents[2]
SERVED = ("forethought", "graph", "nodes", "prompts", "tools", "langgraph.json", "pyproject.toml")
START_SECONDS, STOP_SECONDS, TRIES = 60, 10, 3
SIDE_BY_SIDE = 8
DEV = """
import asyncio, functools
from langgraph_cli.cli import cli

sleep = asyncio.sleep
asyncio.sleep = functools.wraps(sleep)(lambda s, *rest: sleep(0.02 if s == 0.5 else s, *rest))
cli()
"""
"""`langgraph`, whose development server looks for a new run after 0.02 s, not after 0.5 s."""
Json = dict[str, Any]


class DevServer:
    """`langgraph dev` in `folder`, where it writes its threads, with `models` behind every model call.

    Nothing of this machine's environment reaches it but the path of programs.
    """

    def __init__(self, folder: Path, models: ModelServer, settings: Mapping[str, str]) -> None:
        self.folder, self.models = folder, models
        self.log = folder / "server.log"
        for name in SERVED:
            (folder / name).symlink_to(ROOT / name)
        self._environment = {
            "PATH": os.environ["PATH"],
            "FORETHOUGHT_EFFORT": "paper",
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "LANGSMITH_TRACING": "false",
            "FORETHOUGHT_BASE_URL": models.url,
            "FORETHOUGHT_MODEL": "openai:scripted",
            "FORETHOUGHT_DATA_DIR": str(folder / "data"),
            **settings,
        }
        self._process = self._start()
        self.client: SyncLangGraphClient = get_sync_client(url=self.url, api_key=None)

    def close(self) -> None:
        """Stop the process and whatever it started; it gets a moment to do so itself."""
        self.client.http.client.close()
        _stop(self._process)

    def _start(self) -> subprocess.Popen[bytes]:
        for _ in range(TRIES):
            self.url = f"http://127.0.0.1:{_free_port()}"
            process = self._launch()
            if self._answers(process):
                return process
            _stop(process)
        raise RuntimeError(f"langgraph dev does not start:\n{self.log.read_text()[-4000:]}")

    def _launch(self) -> subprocess.Popen[bytes]:
        port = self.url.rpartition(":")[2]
        command = [
            sys.executable,
            "-c",
            DEV,
            "dev",
            "--no-browser",
            "--no-reload",
            "--n-jobs-per-worker",
            "4",
            "--port",
            port,
        ]
        with self.log.open("wb") as log:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _answers(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether it comes up; False as soon as the process ends (another one took the port, say)."""
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and process.poll() is None:
            try:
                if httpx.get(f"{self.url}/ok", timeout=2).is_success:
                    return True
            except httpx.TransportError:
                time.sleep(0.1)
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def agent_policy(*moves: Json, plan: Answer | None = None, answer: Answer = "the answer") -> Policy:
    """A model that plans one subtask (or gives `plan`), makes `moves` in turn, and answers `answer`."""
    made = list(moves) or [replies.finish("found")]
    return Script(
        plans=[plan or replies.plan(replies.sub("s1", description="find out"))],
        moves=dict.fromkeys(("s1", "a", "b"), made),
        answers=[replies.answer(answer) if isinstance(answer, str) else answer],
    )


def run(server: DevServer, given: Json, **context: Any) -> tuple[str, Json]:
    """Run `given` on a new thread; its id, and the result or {"__error__": ...}."""
    thread = str(server.client.threads.create()["thread_id"])
    return thread, go_on(server, thread, input=given, context=context or None)


def go_on(server: DevServer, thread: str, **options: Any) -> Json:
    """Run on `thread` again, with new input or a command; the result or {"__error__": ...}."""
    result: Any = server.client.runs.wait(thread, "agent", raise_error=False, **options)
    return dict(result)


def run_all(server: DevServer, runs: Sequence[tuple[Json, Json]]) -> list[Json]:
    """The results of `runs` (input, context), side by side, since a run may wait a second for the server's
    queue."""
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        return list(pool.map(lambda item: run(server, item[0], **item[1])[1], runs))
