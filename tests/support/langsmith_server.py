"""A stand-in for LangSmith on this machine: it takes what its client sends, in whatever coding."""

from __future__ import annotations

import gzip
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import zstandard

_INGESTION = {
    "use_multipart_endpoint": True,
    "size_limit": 100,
    "size_limit_bytes": 20_000_000,
    "scale_up_nthreads_limit": 16,
    "scale_up_qsize_trigger": 1000,
    "scale_down_nempty_trigger": 4,
}


class LangSmithServer:
    """The server. `bodies` holds what it was sent; `close` ends it."""

    def __init__(self) -> None:
        self.bodies: list[str] = []
        handler = type("Handler", (_Handler,), {"owner": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def variables(self) -> dict[str, str]:
        """What a process is told to trace here."""
        return {
            "LANGSMITH_TRACING": "true",
            "LANGSMITH_ENDPOINT": f"http://127.0.0.1:{self._http.server_address[1]}",
            "LANGSMITH_API_KEY": "lsv2_another_secret",
        }

    @property
    def told(self) -> str:
        """All that it was sent."""
        return "\n".join(self.bodies)

    def wait_for(self, *texts: str, seconds: float = 20) -> str:
        """What it was told, once all of `texts` are in it."""
        until = time.monotonic() + seconds
        while any(text not in self.told for text in texts):
            assert time.monotonic() < until, f"{texts} did not come: {self.told[:2000]}"
            time.sleep(0.05)
        return self.told

    def close(self) -> None:
        """Stop."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: LangSmithServer

    def do_GET(self) -> None:
        self._answer(json.dumps({"batch_ingest_config": _INGESTION}).encode())

    def do_POST(self) -> None:
        self.owner.bodies.append(self._decoded(self._body()))
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
