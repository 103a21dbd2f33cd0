"""Get one page: redirects, limits of size and time, and every failure of the network as a ToolError."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Collection
from dataclasses import dataclass

import httpx

from tools.base import ToolError
from tools.web.guard import GuardedTransport

MAX_BYTES = 10_000_000
"""Largest page, unpacked."""
SECONDS = 30.0
"""Longest wait for the whole page."""
MAX_REDIRECTS = 10
_HEADERS = {
    "User-Agent": "forethought/0.1",
    "Accept": "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.5",
    # No other: what they unpack to could be limited only after it filled the memory.
    "Accept-Encoding": "gzip, deflate",
}


@dataclass(frozen=True)
class Page:
    """What a server sent at the end of its redirects."""

    url: str
    status: int
    reason: str
    media_type: str
    """Such as text/html, lower case, '' if the server did not say."""
    charset: str | None
    body: bytes
    redirects: int = 0

    @property
    def host(self) -> str:
        return httpx.URL(self.url).host


async def fetch(url: str, allowed_hosts: Collection[str]) -> Page:
    """GET `url`, which must be public or on an allowed host at every hop; raises ToolError."""
    try:
        parsed = httpx.URL(url.strip())
        host = parsed.host  # decoded, which fails for a name that is no internationalised one
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise ToolError(
            f"not an address: {error}", cause="arguments", hint="give it as https://host/path"
        ) from error
    try:
        async with asyncio.timeout(SECONDS):
            return await _get(parsed, allowed_hosts)
    except TimeoutError as error:
        message = f"{host} did not send the page within {SECONDS:g} s"
        raise ToolError(message, cause="timeout", hint="use another source", retryable=True) from error
    except (
        httpx.InvalidURL,
        httpx.UnsupportedProtocol,
        httpx.RemoteProtocolError,
        httpx.DecodingError,
    ) as error:
        raise ToolError(f"{host} sent what cannot be read: {error}", cause="transport") from error
    except httpx.HTTPError as error:
        said = str(error) or type(error).__name__
        hint = "try once more, or use another source"
        raise ToolError(
            f"{host} cannot be reached: {said}", cause="transport", hint=hint, retryable=True
        ) from error


async def _get(url: httpx.URL, allowed_hosts: Collection[str]) -> Page:
    """Redirects are followed here and not by httpx, which would read a redirect's own body, however long."""
    async with httpx.AsyncClient(
        transport=GuardedTransport(allowed_hosts), headers=_HEADERS, timeout=httpx.Timeout(SECONDS)
    ) as client:
        request = client.build_request("GET", url)
        for redirects in range(MAX_REDIRECTS + 1):
            response = await client.send(request, stream=True)
            try:
                if response.next_request is None:
                    return await _page(response, redirects)
                request = response.next_request
            finally:
                await response.aclose()
    raise ToolError(f"{url} redirects without end", cause="transport", hint="use another source")


async def _page(response: httpx.Response, redirects: int) -> Page:
    return Page(
        url=str(response.url),
        status=response.status_code,
        reason=response.reason_phrase,
        media_type=response.headers.get("content-type", "").partition(";")[0].strip().lower(),
        charset=response.charset_encoding,
        body=await _body(response),
        redirects=redirects,
    )


async def _body(response: httpx.Response) -> bytes:
    """The unpacked body; nothing of an error page, which is not shown.

    Not unpacked by httpx, which lays out all that a piece unpacks to: 60 kB may be gigabytes.
    """
    if response.is_error:
        return b""
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        _limit(body)
    unpacked = _unpacked(bytes(body), response.headers.get("content-encoding", "").strip().lower())
    _limit(unpacked)
    return unpacked


def _limit(body: bytes | bytearray) -> None:
    if len(body) > MAX_BYTES:
        message = f"the page is larger than {MAX_BYTES // 1_000_000} MB"
        raise ToolError(message, cause="limit", hint="use a smaller page, or another source")


def _unpacked(body: bytes, coding: str) -> bytes:
    """At most one byte more than `MAX_BYTES`. Raises httpx.DecodingError."""
    if coding in ("", "identity") or not body:
        return body
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise httpx.DecodingError(f"the page is packed as {coding[:40]}, which was not asked for")
    # zlib's own header or gzip's; some servers send deflate without any.
    for form in (zlib.MAX_WBITS | 32, -zlib.MAX_WBITS):
        try:
            return zlib.decompressobj(form).decompress(body, MAX_BYTES + 1)
        except zlib.error as error:
            failure = error
    raise httpx.DecodingError(str(failure))
