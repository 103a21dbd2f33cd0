"""A name server for tests: it knows the names that a test gives it, and numbers as the system reads them."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence
from typing import Any

import pytest


def resolve(
    monkeypatch: pytest.MonkeyPatch, names: Mapping[str, Sequence[str] | Sequence[Sequence[str]]]
) -> list[str]:
    """Let only these names have addresses. A list of lists holds the answers in turn, the last one for ever.

    What the system takes for a number (127.1, 0x7f000001, 2130706433) is that number, as everywhere. Returns
    the list of the names that are asked for.
    """
    asked: list[str] = []
    given: dict[str, int] = {}

    def answer(host: str) -> Sequence[str]:
        found = names[host]
        if found and isinstance(found[0], str):
            return found  # type: ignore[return-value]
        at = given.get(host, 0)
        given[host] = at + 1
        return found[min(at, len(found) - 1)]

    async def getaddrinfo(self: object, host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        if host not in names:
            # A ToolError must come of this, or the number itself: nothing leaves the machine.
            return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        return [
            (
                socket.AF_INET6 if ":" in address else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (address, port),
            )
            for address in answer(host)
        ]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    return asked
