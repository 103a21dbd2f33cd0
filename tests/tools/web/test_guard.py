from __future__ import annotations

import httpx
import pytest

from forethought.tools.base import ToolError
from forethought.tools.web.fetch import fetch
from forethought.tools.web.guard import GuardedTransport, addresses_of
from tests.support.resolver import resolve
from tests.support.web_server import Sent, StartServer, WebServer


async def test_an_allowed_host_is_allowed_by_its_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve(monkeypatch, {"wiki.intern": ["10.0.0.1"], "other.intern": ["10.0.0.1"]})
    assert await addresses_of("Wiki.intern".lower(), 80, ["WIKI.intern"]) == ["10.0.0.1"]
    with pytest.raises(ToolError, match="private address"):
        await addresses_of("other.intern", 80, ["wiki.intern", "10.0.0.1"])


async def test_an_unknown_name(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve(monkeypatch, {})
    with pytest.raises(ToolError, match=r"nowhere\.example was not found") as caught:
        await addresses_of("nowhere.example", 80, ())
    assert (caught.value.cause, caught.value.retryable) == ("transport", True)


@pytest.fixture
def server(web_server: StartServer) -> WebServer:
    """Start a server that returns the host it was asked for."""
    return web_server(
        lambda asked: Sent(f"host {asked.headers['Host']}", headers={"Content-Type": "text/plain"})
    )


async def test_the_next_address_is_tried_when_one_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, server: WebServer
) -> None:
    resolve(monkeypatch, {"wiki.intern": ["::1", "127.0.0.1"]})
    page = await fetch(f"http://wiki.intern:{server.port}/", ["wiki.intern"])
    assert page.status == 200


async def test_tls_is_checked_against_the_name() -> None:
    """The number is only where the connection goes: the certificate must be of the host asked for."""
    sent: list[httpx.Request] = []

    class Recorder(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            sent.append(request)
            return httpx.Response(200)

    transport = GuardedTransport(["localhost"])
    transport._inner = Recorder()  # type: ignore[assignment]
    await transport.handle_async_request(httpx.Request("GET", "https://localhost/a?b=c"))
    assert sent[0].url.host in ("127.0.0.1", "::1")
    assert sent[0].url.raw_path == b"/a?b=c"
    assert sent[0].extensions["sni_hostname"] == "localhost"
    assert sent[0].headers["host"] == "localhost"
