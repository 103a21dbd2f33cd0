"""No request goes to a private address: each hop's host is resolved, checked, and reached at that address."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Collection
from functools import cache

import httpx

from forethought.tools.base import ToolError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All public IPv6 addresses; the others are local, reserved or hidden IPv4 addresses."""
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)
_REFUSED = tuple(
    ipaddress.ip_network(network)
    for network in (
        "100.64.0.0/10",  # carrier-grade NAT, and a cloud's metadata in it
        "168.63.129.16/32",  # a cloud's metadata service at a public address
        "192.0.0.0/24",  # protocol assignments, and a cloud's metadata in it
        "192.88.99.0/24",  # relays of 6to4
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",
        "3fff::/20",  # documentation
    )
)
"""Besides what `ipaddress` knows, which differs between releases of Python."""


def is_public(address: Address) -> bool:
    """Whether the address is on the public internet; an IPv4 address inside an IPv6 one counts as itself."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            return False
        inner = _inner(address)
        if inner is not None:
            return is_public(inner)
        if address not in _UNICAST:
            return False
    if any(address in network for network in _REFUSED if network.version == address.version):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _inner(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that mapping, 6to4, NAT64 or ISATAP hides in this one."""
    if address in _NAT64 or (int(address) >> 32 & 0xFFFFFFFF) in _ISATAP:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


async def addresses_of(host: str, port: int, allowed_hosts: Collection[str]) -> list[str]:
    """The addresses of `host`, all of them checked; a host that the operator allows by name is not checked.

    Numbers in disguise (2130706433, 0x7f.1) are what the resolver makes of them. Raises ToolError.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        hint = "check the address, or look for the page with web_search"
        raise ToolError(
            f"the host {host} was not found", cause="transport", hint=hint, retryable=True
        ) from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if host.lower() not in {allowed.lower() for allowed in allowed_hosts}:
        for address in addresses:
            if not is_public(ipaddress.ip_address(address)):
                raise ToolError(
                    f"{host} is a private address and may not be opened",
                    cause="unavailable",
                    hint="use public pages; the operator opens private hosts with FORETHOUGHT_ALLOWED_HOSTS",
                )
    return addresses


@cache
def _ssl_context() -> ssl.SSLContext:
    """Read once: the list of authorities takes longer to load than many a page."""
    return httpx.create_ssl_context()


class GuardedTransport(httpx.AsyncBaseTransport):
    """Sends each request, a redirect's too, to an address that was checked just before; no proxy is used.

    The name stays in the Host header and for TLS; only the connection goes to the number, so that a second
    answer of the name server (DNS rebinding) changes nothing.
    """

    def __init__(self, allowed_hosts: Collection[str]) -> None:
        self._allowed = allowed_hosts
        self._inner = httpx.AsyncHTTPTransport(verify=_ssl_context())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        if url.scheme not in ("http", "https") or not url.host:
            raise ToolError(
                f"{url} is not an http or https address", cause="arguments", hint="start it with https://"
            )
        port = url.port or (443 if url.scheme == "https" else 80)
        failure: httpx.TransportError = httpx.ConnectError(f"{url.host} has no address")
        for address in await addresses_of(url.host, port, self._allowed):
            try:
                return await self._inner.handle_async_request(_pinned(request, address))
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = error
        raise failure

    async def aclose(self) -> None:
        await self._inner.aclose()


def _pinned(request: httpx.Request, address: str) -> httpx.Request:
    host = request.url.raw_host.decode("ascii")
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )
