"""A web server on this machine that answers as a test says and remembers what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Sent:
    """An answer: status, body and headers; a str is sent as UTF-8."""

    body: bytes | str = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/html; charset=utf-8"})


Answer = Callable[[Asked], Sent]


class WebServer:
    """Serves `answer(request)` on 127.0.0.1 until closed; `asked` holds the requests in order."""

    def __init__(self, answer: Answer) -> None:
        self.asked: list[Asked] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                asked = Asked(self.command, self.path, dict(self.headers), self.rfile.read(length))
                outer.asked.append(asked)
                sent = answer(asked)
                body = sent.body.encode() if isinstance(sent.body, str) else sent.body
                self.send_response(sent.status)
                for name, value in sent.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True  # the client had enough

            do_POST = do_GET

            def log_message(self, format: str, *args: object) -> None:
                """Nothing: a test's output is its own."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.002})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


StartServer = Callable[[Answer], WebServer]
