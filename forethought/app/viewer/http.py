"""The viewer beside the API of a LangGraph server: what langgraph.json names as `http.app`.

A page's request is answered by requests to the server's own API, by a socket and with the user's token. So
the API's rules of access and ownership hold for pages as they do for every client.
"""

from __future__ import annotations

from functools import lru_cache

import httpx
from langgraph_sdk.client import LangGraphClient
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from forethought.app.viewer.access import token_of
from forethought.app.viewer.server import ServerRuns
from forethought.app.viewer.site import ROOT, home, make_pages
from forethought.server.auth import SETTINGS

_TIMEOUT_S = 60


@lru_cache(maxsize=100)
def client_of(address: str, token: str) -> LangGraphClient:
    """A client of the server at `address`, with a user's token ('': none)."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    # Not `get_client`, which tries again for seconds: pages that are open would keep the server from its end.
    # Nor through a proxy of the environment, which would see the token: the server is this one.
    client = httpx.AsyncClient(base_url=address, headers=headers, timeout=_TIMEOUT_S, trust_env=False)
    return LangGraphClient(client)


def _runs(request: Request) -> ServerRuns:
    host, port = request.scope["server"]
    name = f"[{host}]" if ":" in host else host
    return ServerRuns(client_of(f"http://{name}:{port}", token_of(request)), request.state.user, SETTINGS)


class _NoInternals:
    """Refuses to everybody what LangGraph's development server offers without asking for a token: to erase
    all threads, to read any, to deploy the folder. It stands before the whole server, as middleware of its
    custom application does."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        first = scope.get("path", "").strip("/").partition("/")[0]
        if scope["type"] == "http" and first in ("internal", "deploy"):
            await PlainTextResponse("this server does not offer that", 403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


app = Starlette(
    # The server, which adds these routes to its own, does not send /view on to /view/.
    routes=[Route(ROOT, home, include_in_schema=False), Mount(ROOT, app=make_pages(_runs, SETTINGS))],
    middleware=[Middleware(_NoInternals)],
)
