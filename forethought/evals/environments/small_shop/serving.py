"""The small shop behind an httpx client without a network, and over HTTP on this machine.

python -m forethought.evals.environments.small_shop.serving --port 3000
forethought eval run webshop --option url=http://127.0.0.1:3000
"""

from __future__ import annotations

import argparse
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl

import httpx

from forethought.evals.environments.small_shop.catalogue import catalogue
from forethought.evals.environments.small_shop.site import Answer, Site

INSIDE = "http://small-shop.invalid"
"""The address of a shop within the process: no name server knows it."""


class InProcess(httpx.AsyncBaseTransport):
    """Carries a client's requests to a shop in the same process."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The shop's answer."""
        body = (await request.aread()).decode()
        answer = self._site.handle(request.method, request.url.raw_path.decode(), dict(parse_qsl(body)))
        return httpx.Response(answer.status, headers=_headers(answer), text=answer.html)


class Server:
    """The shop on a port of this machine (0: a free one), in threads of its own until it is closed."""

    def __init__(self, site: Site, port: int = 0) -> None:
        handler = type("Handler", (_Handler,), {"site": site})
        self._http = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def close(self) -> None:
        """Stop."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        self._answer(dict(parse_qsl(body)))

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""

    def _answer(self, form: dict[str, str]) -> None:
        answer = self.site.handle(self.command, self.path, form)
        body = answer.html.encode()
        self.send_response(answer.status)
        for name, value in {**_headers(answer), "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _headers(answer: Answer) -> dict[str, str]:
    told = {"content-type": "text/html; charset=utf-8"}
    return {**told, "location": answer.location} if answer.location else told


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="Serves the small shop on this machine.")
    parser.add_argument("--port", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with Server(Site(catalogue(given.seed)), given.port) as server:
        print(f"the small shop is at {server.url}; end it with Ctrl-C")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
