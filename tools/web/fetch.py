"""Get one page: redirects, limits of size and time, and every failure of the network as a ToolError."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

import httpx

from forethought.tools.base import ToolError
from forethought.tools.web.guard import GuardedTransport

MAX_BYTES = 10_000_000
"""Largest page, unpacked."""
SECONDS = 30.0
"""Longest wait for the whole page."""
MAX_REDIRECTS = 10
_ENCODINGS = ("gzip", "deflate")
"""What httpx can unpack piece by piece: a piece of zstd or brotli may fill the memory at once."""
_HEADERS = {
    "User-Agent": "forethought/0.1",
    "Accept": "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.5",
    "Accept-Encoding": ", ".join(_ENCODINGS),
}


@dataclass(frozen=True)
class Page:
    """What a server sent at the end of its redirects."""

    url: str
    media_type: str
    """Such as text/html, lower case, '' if the server did not say."""
    charset: str | None
    body: bytes
    status: int = 200
    reason: str = "OK"
    redirects: int = 0

    @property
    def host(self) -> str:
        return httpx.URL(self.url).host


async def fetch(url: str, allowed_hosts: Collection[str], *, same_host: bool = False) -> Page:
    """GET `url`, which must be public or on an allowed host at every hop.

    Args:
        url: An http or https address.
        allowed_hosts: Private hosts that may be opened.
        same_host: Whether a redirect to another host is refused.

    Raises:
        ToolError: It is no such address, may not be opened, or did not come.
    """
    try:
        parsed = httpx.URL(url.strip())
        host = parsed.host  # decoded, which fails for a name that is no internationalised one
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise ToolError(
            f"not an address: {error}", cause="arguments", hint="give it as https://host/path"
        ) from error
    try:
        async with asyncio.timeout(SECONDS):
            return await _get(parsed, allowed_hosts, same_host)
    except TimeoutError as error:
        message = f"{host} did not send the page within {SECONDS:g} s"
        raise ToolError(message, cause="timeout", hint="use another source", retryable=True) from error
    except (
        httpx.InvalidURL,
        httpx.UnsupportedProtocol,
        httpx.RemoteProtocolError,
        httpx.DecodingError,
    ) as error:
        raise ToolError(f"{host} sent an unreadable reply: {error}", cause="transport") from error
    except httpx.HTTPError as error:
        reason = str(error) or type(error).__name__
        hint = "try once more, or use another source"
        raise ToolError(
            f"{host} cannot be reached: {reason}", cause="transport", hint=hint, retryable=True
        ) from error


async def _get(url: httpx.URL, allowed_hosts: Collection[str], same_host: bool) -> Page:
    """Redirects are followed here and not by httpx, which would read a redirect's own body, however long."""
    async with httpx.AsyncClient(
        transport=GuardedTransport(allowed_hosts), headers=_HEADERS, timeout=httpx.Timeout(SECONDS)
    ) as client:
        request = client.build_request("GET", url)
        for redirects in range(MAX_REDIRECTS + 1):
            response = await client.send(request, stream=True)
            try:
                if response.next_request is None:
                    return Page(
                        url=str(response.url),
                        media_type=response.headers.get("content-type", "").partition(";")[0].strip().lower(),
                        charset=response.charset_encoding,
                        body=await _body(response),
                        status=response.status_code,
                        reason=response.reason_phrase,
                        redirects=redirects,
                    )
                request = response.next_request
                if same_host and request.url.host != url.host:
                    # The target is not shown whole: its path could be what must not be carried out.
                    raise ToolError(
                        f"{url.host} redirects to another host, {request.url.host}, which was not approved",
                        cause="unavailable",
                        hint="use another source, or ask for that host's own address",
                    )
            finally:
                await response.aclose()
    raise ToolError(f"{url} redirects in a loop", cause="transport", hint="use another source")


async def _body(response: httpx.Response) -> bytes:
    """The unpacked body; nothing of an error page, which is not shown."""
    if response.is_error:
        return b""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in (*_ENCODINGS, "identity"):
        raise httpx.DecodingError(f"it is encoded as {encoding[:40]!r}, which was not requested")
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_BYTES:
            raise ToolError(
                f"the page is larger than {MAX_BYTES // 1_000_000} MB",
                cause="limit",
                hint="use a smaller page, or another source",
            )
    return bytes(body)
