"""Every known disguise of a private address, by itself, behind a name, behind a redirect: none is reached.

Proved on the sockets: every attempt to connect is written down, and listeners on this machine's own addresses
count who comes.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from forethought.settings import Settings
from forethought.tools.base import ToolEnv, ToolError
from forethought.tools.call import call_tool
from forethought.tools.visit_webpage import VISIT_WEBPAGE
from forethought.tools.web.fetch import fetch
from forethought.tools.web.guard import GuardedTransport, addresses_of, is_public
from tests.support.resolver import resolve
from tests.support.web_server import Asked, Sent, StartServer, WebServer


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


PUBLIC = "93.184.216.34"

LOOPBACK = [
    "127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "2130706433", "0x7f000001", "0x7F.1", "0x7f.0.0.0x1",
    "017700000001", "0177.0.0.1", "0177.1", "00000177.0.0.01", "0", "0.0.0.0", "0x0", "127.0.0.1.",
    "127。0。0。1", "127．0．0．1", "127｡1", "１２７.０.０.１", "①②⑦.⓪.⓪.①", "𝟙𝟚𝟟.𝟘.𝟘.𝟙", "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1", "127.0.0.1%00.example.org", "[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]", "[2002:7f00:1::]",
    "[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]", "[::ffff:0:127.0.0.1]",
    "[2001:0:5ef5:79fd:380f:3caa:80ff:fffe]", "[fe80::5efe:127.0.0.1]", "[2606:4700::5efe:7f00:1]",
    "[::1%25lo]", "[::1%lo]", "localhost", "LOCALHOST", "localhost.", "LoCaLhOsT。", "ⓛocalhost",
    "localhost%2e",
]  # fmt: skip
OTHERS = [
    "10.0.0.1", "10.1", "012.0.0.1", "0xa000001", "167772161", "172.16.0.1", "172.31.255.255", "192.168.0.1",
    "192.168.257", "0300.0250.1", "3232235521", "169.254.169.254", "0xA9FEA9FE", "2852039166",
    "169.254.43518", "0251.0376.0251.0376", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]", "[fd00:ec2::254]", "[fd20:ce::254]", "100.100.100.200",
    "100.64.0.1",
    "100.127.255.255", "168.63.129.16", "192.0.0.192", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1",
    "203.0.113.1", "192.88.99.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "4294967295", "[fe80::1]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[fc00::1]", "[fd12:3456:789a::1]",
    "[fec0::1]", "[ff02::1]", "[ff0e::1]", "[2001:db8::1]", "[3fff::1]", "[100::1]", "[2001:2::1]",
    "[5f00::1]", "[4000::1]",
]  # fmt: skip
NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "localhost.": ["127.0.0.1"],
    "localhost.localdomain": ["127.0.0.1"],
    "ip6-localhost": ["::1"],
    "127.0.0.1.nip.example": ["127.0.0.1"],
    "intranet": ["10.0.0.7"],
    "metadata.google.internal": ["169.254.169.254"],
    "printer.local": ["192.168.1.20"],
    "v6.example": ["fd00::1"],
    "mapped.example": ["::ffff:10.0.0.1"],
    "zoned.example": ["fe80::1%2"],
    "mixed.example": [PUBLIC, "127.0.0.1"],
    "mixed6.example": ["2606:4700:4700::1111", "::1"],
    "last-of-many.example": [*[f"93.184.216.{n}" for n in range(30, 60)], "10.0.0.1"],
}
SCHEMES = [
    "file:///etc/passwd", "file://localhost/etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:70/_x",
    "data:text/plain,secret", "javascript:alert(1)", "dict://127.0.0.1/", "ldap://127.0.0.1/",
    "ws://127.0.0.1/", "unix:///var/run/docker.sock", "jar:http://127.0.0.1!/x", "netdoc:///etc/passwd",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/info", "//127.0.0.1/", "127.0.0.1/", "http:127.0.0.1", "http:///x",
    "view-source:file:///etc/passwd", "view-source:http://127.0.0.1/", "view-source:view-source:http://127.0.0.1",
]  # fmt: skip
SHAPES = [
    "http://example.org@{host}:{port}/", "http://example.org:80@{host}:{port}/", "https://{host}:{port}/",
    "http://{host}:{port}#@example.org/", "http://{host}:{port}\\@example.org/", "HTTP://{host}:{port}/",
    "http://{host}:0{port}/", " http://{host}:{port}/ ", "http://example.org%40{host}:{port}/",
    "http://example.org%2f@{host}:{port}/", "http://example.org\\@{host}:{port}/",
]  # fmt: skip


@dataclass
class Wire:
    """What went over the wire: attempts to connect, and connections that arrived on this machine."""

    port: int
    attempts: list[tuple[str, int]] = field(default_factory=list)
    arrived: list[Any] = field(default_factory=list)


@pytest.fixture(autouse=True)
def each_call_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here it counts how often a name is looked up and a connection tried."""
    monkeypatch.setattr("forethought.tools.call._QUICK_S", -1)


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """Listeners on one port of 127.0.0.1 and (where there is one) ::1; going elsewhere is refused."""
    first = socket.create_server(("127.0.0.1", 0))
    wire = Wire(first.getsockname()[1])
    listeners = [first]
    # A machine without IPv6 has no ::1 that could be reached.
    with suppress(OSError):
        listeners.append(socket.create_server(("::1", wire.port), family=socket.AF_INET6))
    threads = [threading.Thread(target=_count, args=(listener, wire.arrived)) for listener in listeners]
    for thread in threads:
        thread.start()
    connect = asyncio.SelectorEventLoop.sock_connect

    async def noted(self: Any, sock: socket.socket, address: Any) -> None:
        wire.attempts.append((address[0], address[1]))
        if not ipaddress.ip_address(address[0]).is_loopback:
            raise ConnectionRefusedError("nothing leaves this machine")
        await connect(self, sock, address)

    monkeypatch.setattr(asyncio.SelectorEventLoop, "sock_connect", noted)
    yield wire
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
    for thread in threads:
        thread.join()


def _count(listener: socket.socket, arrived: list[Any]) -> None:
    while True:
        try:
            connection, source = listener.accept()
        except OSError:
            return
        arrived.append(source)
        connection.close()


@pytest.fixture
def refuse(
    wire: Wire, settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """Visit an address as the agent would; it must come to nothing, without a single attempt to connect."""
    resolve(monkeypatch, NAMES)
    env = ToolEnv(settings=settings())

    async def visit(url: str) -> None:
        seen = await call_tool(VISIT_WEBPAGE, {"url": url}, env)
        assert not seen.ok, url
        assert seen.cause in ("arguments", "unavailable", "transport"), (url, seen)
        assert (wire.attempts, wire.arrived) == ([], []), url

    return visit


async def test_the_wire_notices_what_does_go_out(
    wire: Wire, settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the other tests would prove nothing."""
    resolve(monkeypatch, {"open.example": ["127.0.0.1"]})
    env = ToolEnv(settings=settings(allowed_hosts=("open.example",)))
    await call_tool(VISIT_WEBPAGE, {"url": f"http://open.example:{wire.port}/"}, env)
    assert wire.attempts == [("127.0.0.1", wire.port)]
    assert len(wire.arrived) == 1


@pytest.mark.parametrize("host", [*LOOPBACK, *OTHERS, *NAMES])
async def test_no_disguise_is_reached(refuse: Callable[..., Any], wire: Wire, host: str) -> None:
    await refuse(f"http://{host}:{wire.port}/latest/meta-data/")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost", "2130706433", "169.254.169.254"])
async def test_no_shape_of_an_address_hides_its_host(
    refuse: Callable[..., Any], wire: Wire, shape: str, host: str
) -> None:
    await refuse(shape.format(host=host, port=wire.port))


@pytest.mark.parametrize(
    "port", ["", ":80", ":443", ":22", ":0", ":65535", ":6379", ":99999", ":-1", ":http"]
)
async def test_no_port_makes_a_difference(refuse: Callable[..., Any], port: str) -> None:
    await refuse(f"http://127.0.0.1{port}/")


@pytest.mark.parametrize("url", SCHEMES)
async def test_only_http_and_https(refuse: Callable[..., Any], url: str) -> None:
    await refuse(url)


TARGETS = [
    *(f"http://{host}:{{port}}/" for host in [*LOOPBACK, *OTHERS, *NAMES] if "%" not in host),
    # These two are relative addresses, of the page that redirects.
    *(url for url in SCHEMES if ":" in url and url not in ("http:127.0.0.1", "http:///x")),
    "//localhost:{port}/",
    "//127.0.0.1:{port}/",
    "\\\\127.0.0.1:{port}/",
    "http://start.example@127.0.0.1:{port}/",
]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_leads_to_one(
    wire: Wire, settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """Only the page that redirects is asked, which stands for a public one here."""
    resolve(monkeypatch, {**NAMES, "start.example": ["127.0.0.1"]})
    env = ToolEnv(settings=settings(allowed_hosts=("start.example",)))
    location = [""]

    def answer(asked: Asked) -> Sent:
        return Sent(status=status, headers={"Location": location[0]} if asked.path == "/" else {})

    server = WebServer(answer)
    try:
        for target in TARGETS:
            location[0] = target.format(port=wire.port).encode().decode("latin-1")
            wire.attempts.clear()
            await call_tool(VISIT_WEBPAGE, {"url": f"http://start.example:{server.port}/"}, env)
            assert set(wire.attempts) == {("127.0.0.1", server.port)}, target
            assert wire.arrived == [], target
    finally:
        server.close()


async def test_a_second_answer_of_the_name_server_is_not_asked_for(
    wire: Wire, settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rebinding: the check sees a public address, whoever resolves again gets a private one."""
    asked = resolve(monkeypatch, {"rebind.example": [[PUBLIC], ["127.0.0.1"], ["::1"]]})
    env = ToolEnv(settings=settings())
    seen = await call_tool(VISIT_WEBPAGE, {"url": f"http://rebind.example:{wire.port}/"}, env)
    assert not seen.ok
    assert wire.attempts == [(PUBLIC, wire.port)], "the connection goes to the address that was checked"
    assert (asked, wire.arrived) == (["rebind.example"], [])


async def test_a_name_that_turns_private_between_two_hops_is_checked_again(
    wire: Wire, settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve(monkeypatch, {"start.example": ["127.0.0.1"], "rebind.example": [[PUBLIC], ["127.0.0.1"]]})
    env = ToolEnv(settings=settings(allowed_hosts=("start.example",)))
    target = f"http://rebind.example:{wire.port}/"
    server = WebServer(lambda asked: Sent(status=302, headers={"Location": target}))
    try:
        for _ in range(2):
            await call_tool(VISIT_WEBPAGE, {"url": f"http://start.example:{server.port}/"}, env)
    finally:
        server.close()
    start = ("127.0.0.1", server.port)
    assert wire.attempts == [start, (PUBLIC, wire.port), start]
    assert wire.arrived == []


@pytest.mark.parametrize(
    "address",
    ["2001:0:5ef5:79fd:380f:3caa:80ff:fffe", "64:ff9b:1::1", "168.63.129.16", "192.0.0.192", "4000::1"],
)
def test_what_releases_of_python_judge_differently(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700:4700::1111", "64:ff9b::808:808", "2002:808:808::1"]
)
def test_public_addresses_stay_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))
