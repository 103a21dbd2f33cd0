"""The small shop over HTTP, in the place of a running WebShop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from forethought.evals.environments.small_shop.shop import INSIDE, serve
from tests.support.web_server import Asked, Sent, WebServer


@contextmanager
def serve_shop() -> Iterator[str]:
    """The address of the shop on a free port of this machine."""

    def answer(asked: Asked) -> Sent:
        reply = serve(httpx.Request(asked.method, INSIDE + asked.path, content=asked.body))
        headers = {name: value for name, value in reply.headers.items() if name != "content-length"}
        return Sent(reply.content, reply.status_code, headers)

    server = WebServer(answer)
    try:
        yield server.url
    finally:
        server.close()
