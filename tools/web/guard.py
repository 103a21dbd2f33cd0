"""No request goes to a private address: each hop's host is resolved, checked, and reached at that address."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Collection

import httpx

from tools.base import ToolError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_INSIDE_CLOUDS = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "168.63.129.16/32")))
"""Reachable only from within: Oracle's metadata (Python 3.11 takes it for public), Azure's wire server."""


def is_public(address: Address) -> bool:
    """Whether the address is on the public internet; an IPv4 address inside an IPv6 one counts as itself."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address.is_site_local:
            return False
    elif any(address in network for network in _INSIDE_CLOUDS):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


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


class GuardedTransport(httpx.AsyncBaseTransport):
    """Sends each request, a redirect's too, to an address that was checked just before; no proxy is used.

    The name stays in the Host header and for TLS; only the connection goes to the number, so that a second
    answer of the name server (DNS rebinding) changes nothing.
    """

    def __init__(self, allowed_hosts: Collection[str]) -> None:
        self._allowed = allowed_hosts
        self._inner = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        if url.scheme not in ("http", "https") or not url.host:
            raise ToolError(
                f"{url} is no http or https address", cause="arguments", hint="start it with https://"
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
