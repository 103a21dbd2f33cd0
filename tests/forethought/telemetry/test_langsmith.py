"""What LangSmith is sent, by its own client over HTTP, holds no secret, not even one in the task."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.support.agent import Script
from tests.support.model_server import ModelServer
from tests.support.replies import finish

ROOT = Path(__file__).parents[3]
INGESTION = {
    "use_multipart_endpoint": True,
    "size_limit": 100,
    "size_limit_bytes": 20_000_000,
    "scale_up_nthreads_limit": 16,
    "scale_up_qsize_trigger": 1000,
    "scale_down_nempty_trigger": 4,
}
SECRET = "sk-very-secret-value"


@pytest.fixture
def langsmith() -> Iterator[tuple[str, list[str]]]:
    """The address of a stand-in for LangSmith, and the bodies that it got."""
    bodies: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(json.dumps({"batch_ingest_config": INGESTION}).encode())

        def do_POST(self) -> None:
            bodies.append(self._decoded(self._body()))
            self._answer(b"{}")

        do_PATCH = do_POST

        def _body(self) -> bytes:
            if length := self.headers.get("content-length"):
                return self.rfile.read(int(length))
            whole = b""
            while size := int(self.rfile.readline(), 16):
                whole += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return whole

        def _decoded(self, body: bytes) -> str:
            coding = self.headers.get("content-encoding", "")
            if coding == "zstd":
                body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
            return (gzip.decompress(body) if coding == "gzip" else body).decode("utf-8", "replace")

        def _answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", bodies
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_run_of_the_command(
    langsmith: tuple[str, list[str]], model_server: Callable[..., ModelServer], tmp_path: Path
) -> None:
    address, bodies = langsmith
    server = model_server(Script(moves={"a": [finish("done")]}))
    done = subprocess.run(
        [sys.executable, "-m", "forethought", "run", f"is {SECRET} a good key?", "--json"],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "FORETHOUGHT_BASE_URL": server.url,
            "FORETHOUGHT_MODEL": "openai:scripted",
            "FORETHOUGHT_API_KEY": SECRET,
            "LANGSMITH_TRACING": "true",
            "LANGSMITH_ENDPOINT": address,
            "LANGSMITH_API_KEY": "lsv2_another_secret",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    told = "\n".join(bodies)
    assert "a good key?" in told
    assert "prospective_reflector" in told
    assert SECRET not in told
    assert "lsv2_another_secret" not in told
