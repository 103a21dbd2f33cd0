from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.tools.base import ToolError
from forethought.tools.web.fetch import fetch
from forethought.tools.web.guard import GuardedTransport, addresses_of, is_public
from tests.support.web_server import Sent, WebServer

_NOT_PUBLIC = [
    "127.0.0.1", "127.255.255.254", "10.1.2.3", "172.16.0.1", "192.168.1.1",
    "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "240.0.0.1",
    "255.255.255.255", "198.18.0.1", "192.0.2.1", "::", "::1",
    "fe80::1", "fc00::1", "fec0::1", "ff02::1", "2001:db8::1",
    "192.0.0.192", "168.63.129.16", "::ffff:168.63.129.16",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2002:a00:1::",
]  # fmt: skip


@pytest.mark.parametrize("address", _NOT_PUBLIC)
def test_addresses_that_are_not_of_the_public_internet(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_public_addresses(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_in_disguise_counts_as_itself(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    mapped = ipaddress.IPv6Address((0xFFFF << 32) | number)
    nat64 = ipaddress.IPv6Address((0x64FF9B << 96) | number)
    six_to_four = ipaddress.IPv6Address((0x2002 << 112) | (number << 80))
    assert {is_public(mapped), is_public(nat64), is_public(six_to_four)} == {is_public(address)}


def answers(monkeypatch: pytest.MonkeyPatch, **names: list[str]) -> list[str]:
    """Let the name server know only these names; returns the list of the names it is asked for."""
    asked: list[str] = []
    known = {name.replace("_", "."): found for name, found in names.items()}

    async def getaddrinfo(self: object, host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        if host not in known:
            raise socket.gaierror("unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in known[host]]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    return asked


async def test_a_name_with_one_private_address_among_public_ones_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers(monkeypatch, mixed_example=["93.184.216.34", "10.0.0.1"], good_example=["93.184.216.34"])
    with pytest.raises(ToolError, match="private address"):
        await addresses_of("mixed.example", 80, ())
    assert await addresses_of("good.example", 80, ()) == ["93.184.216.34"]


async def test_an_allowed_host_is_allowed_by_its_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, wiki_intern=["10.0.0.1"], other_intern=["10.0.0.1"])
    assert await addresses_of("Wiki.intern".lower(), 80, ["WIKI.intern"]) == ["10.0.0.1"]
    with pytest.raises(ToolError, match="private address"):
        await addresses_of("other.intern", 80, ["wiki.intern", "10.0.0.1"])


async def test_an_unknown_name(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch)
    with pytest.raises(ToolError, match=r"nowhere\.example was not found") as caught:
        await addresses_of("nowhere.example", 80, ())
    assert (caught.value.cause, caught.value.retryable) == ("transport", True)


@pytest.fixture
def server() -> Iterator[WebServer]:
    server = WebServer(
        lambda asked: Sent(f"host {asked.headers['Host']}", headers={"Content-Type": "text/plain"})
    )
    yield server
    server.close()


async def test_the_name_is_resolved_once_and_the_connection_goes_to_that_address(
    monkeypatch: pytest.MonkeyPatch, server: WebServer
) -> None:
    """A name server that answers differently the next time changes nothing; the Host header has the name."""
    asked = answers(monkeypatch, wiki_intern=["127.0.0.1"])
    page = await fetch(f"http://wiki.intern:{server.port}/", ["wiki.intern"])
    assert page.body.decode() == f"host wiki.intern:{server.port}"
    assert asked == ["wiki.intern"]


async def test_the_next_address_is_tried_when_one_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, server: WebServer
) -> None:
    answers(monkeypatch, wiki_intern=["::1", "127.0.0.1"])
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
