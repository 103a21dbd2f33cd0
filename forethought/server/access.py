"""Who a client is: a bearer token of the operator's list, or nobody but this machine."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping

from forethought.settings import Settings, users_of
from forethought.users import LOCAL_USER

_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
STUDIO = "https://smith.langchain.com"
_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


class NoAccess(Exception):
    """The client is not let in: one line that says why, with no word on which tokens there are."""


def identity(
    settings: Settings, authorization: str | None, client: str | None, headers: Mapping[str, str]
) -> str:
    """The user's name. `client` is the peer's address, `headers` have lower-case names.

    With tokens set up, one of them is needed, wherever the client is. Without, only this machine itself is
    served, as the user 'local': not what a proxy on it passes on, nor a page of another site that a browser
    on it shows, but for LangGraph Studio's. Raises NoAccess.
    """
    users = users_of(settings)
    if users:
        return _by_token(users, authorization)
    if not _is_loopback(client) or any(name in headers for name in _FORWARDED):
        raise NoAccess(
            "this server has no access tokens and accepts only its own machine; set "
            "FORETHOUGHT_ACCESS_TOKENS to open it"
        )
    if not _names_this_machine(headers.get("host", "")):
        raise NoAccess(
            "this server has no access tokens and accepts only the host name localhost; use it, or "
            "set FORETHOUGHT_ACCESS_TOKENS"
        )
    if not _is_own_page(headers.get("origin", "")):
        raise NoAccess(
            "this server has no access tokens and refuses pages of other sites; set "
            "FORETHOUGHT_ACCESS_TOKENS to use them"
        )
    return LOCAL_USER


def _by_token(users: Mapping[str, str], authorization: str | None) -> str:
    scheme, _, token = (authorization or "").strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise NoAccess("give an access token: Authorization: Bearer TOKEN")
    token_bytes, user = token.strip().encode(), ""
    # All are compared, each in constant time: how long it takes tells nothing.
    for name, known in users.items():
        if hmac.compare_digest(known.encode(), token_bytes):
            user = name
    if not user:
        raise NoAccess("unknown access token: check it, or ask the operator for one")
    return user


def _is_loopback(client: str | None) -> bool:
    try:
        address = ipaddress.ip_address((client or "").partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def _names_this_machine(host: str) -> bool:
    """A page of another site reaches a server here under a name of its own (DNS rebinding)."""
    name = host.lower() if host.lower() in _LOCAL_NAMES else host.lower().rpartition(":")[0]
    return name in _LOCAL_NAMES


def _is_own_page(origin: str) -> bool:
    """Whether a request is no page's, one of this machine's, or Studio's."""
    if not origin or origin == STUDIO:
        return True
    scheme, _, host = origin.partition("://")
    return scheme in ("http", "https") and _names_this_machine(host)


def header_texts(headers: Mapping[str | bytes, str | bytes]) -> dict[str, str]:
    """Headers as text under lower-case names, whether a server gives text or bytes."""
    return {_text(name).lower(): _text(value) for name, value in headers.items()}


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value
