"""Connections that will not come about, and the line that says why."""

from __future__ import annotations

import ipaddress
import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from forethought.models.errors import chain, describe

PATIENCE_S = 15.0
"""How long another machine may refuse connections that has never answered: it starts, or it is not there."""
_PEER = re.compile(r"\('([^']+)', (\d+)[,)]")
"""Host and port in asyncio's words for a connection that failed."""
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class DeadEnd:
    """Why nobody answers, what to do about it, and after how many seconds of it to give up."""

    line: str
    patience_s: float = 0.0


def dead_end(error: BaseException, base_url: str | None) -> DeadEnd | None:
    """The dead end that a failed call came to; None where another try may help. `base_url`: as set."""
    asked = _address(error) or base_url or ""
    parts = urlsplit(asked)
    host, setting = parts.hostname or "", "--base-url or FORETHOUGHT_BASE_URL" if base_url else "its address"
    place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if host else "its address"
    if any(isinstance(link, socket.gaierror) and link.errno == socket.EAI_NONAME for link in chain(error)):
        return DeadEnd(f"there is no host {host}".rstrip() + f": correct {setting}, or check the network")
    if not any(isinstance(link, ConnectionRefusedError) for link in chain(error)):
        return None
    peer = _PEER.search(describe(error))
    if peer and host and int(peer[2]) != (parts.port or _PORTS.get(parts.scheme)):
        proxy = f"the proxy {peer[1]}:{peer[2]} refuses connections"
        return DeadEnd(f"{proxy}: start it, or set NO_PROXY={host} to reach {place} without it")
    if is_loopback(host):
        return DeadEnd(f"connection refused: is Ollama (or the server at {place}) running?")
    line = f"connection refused: is the server at {place} running? If so, correct {setting}"
    return DeadEnd(line, PATIENCE_S)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its name or number."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _address(error: BaseException) -> str:
    """Where the request was sent, as the HTTP client says; '' where none says it."""
    for link in chain(error):
        with suppress(RuntimeError):  # httpx, where it has no request
            request: Any = getattr(link, "request", None)
            if url := getattr(request, "url", None):
                return str(url)
    return ""
