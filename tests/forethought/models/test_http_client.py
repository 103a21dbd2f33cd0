"""The HTTP client of OpenAI models: connections are kept within an event loop, and closed with it."""

from __future__ import annotations

import asyncio
from typing import Any

from forethought.models.http_client import http_client
from forethought.models.pools import AT_ONCE

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


async def use(at_once: int = 1) -> tuple[Any, int]:
    """A loop's client, and the connections that twice so many requests took."""
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        try:
            while await reader.readline():
                while (await reader.readline()).strip():
                    pass
                writer.write(REPLY)
                await writer.drain()
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        client = await http_client()
        for _ in range(2):
            same = await http_client()
            gets = [same.get(f"http://127.0.0.1:{port}/") for _ in range(at_once)]
            assert all(response.json() == {} for response in await asyncio.gather(*gets))
        return client, connections


def test_a_loop_has_one_client_which_keeps_its_connections_and_closes_with_it() -> None:
    (one, connections), (other, _) = asyncio.run(use()), asyncio.run(use())
    assert connections == 1
    assert one is not other
    assert (one.is_closed, other.is_closed) == (True, True)


def test_requests_side_by_side_keep_and_close_theirs_too() -> None:
    client, connections = asyncio.run(use(2 * AT_ONCE + 1))
    assert connections == 2 * AT_ONCE + 1
    assert client.is_closed
