"""Who may use the viewer: this machine, or whoever signs in with an access token.

The rules are those of the server's API (forethought/server/access.py). A browser keeps the token in a cookie
that scripts cannot read and that no other site's page sends. A link with ?token=... signs in as well.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from forethought.server.access import NoAccess, identity
from forethought.settings import Settings, users_of

_YEAR_S = 365 * 24 * 3600


class Access:
    """Lets requests through to `app`, and answers the others with the page that `sign_in` makes."""

    def __init__(
        self, app: ASGIApp, settings: Settings, root: str, sign_in: Callable[[str, str, int], Response]
    ) -> None:
        self._app, self._settings, self._root, self._sign_in = app, settings, root, sign_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        answer = await self._answer(request)
        await (answer or self._app)(scope, receive, send)

    async def _answer(self, request: Request) -> Response | None:
        """What the request is answered instead of a page; None lets it through."""
        path = request.url.path
        if path.startswith(f"{self._root}/static/"):
            return None
        if request.method == "POST" and is_foreign(request):
            return self._sign_in("Another site's page may not do this.", "", 403)
        has_users = bool(users_of(self._settings))
        if has_users and request.method == "POST" and path == f"{self._root}/sign-in":
            async with request.form() as form:
                return self._signed_in(request, str(form.get("token", "")), str(form.get("next", "")))
        if has_users and request.method == "GET" and "token" in request.query_params:
            rest = [(key, value) for key, value in request.query_params.multi_items() if key != "token"]
            place = path + (f"?{urlencode(rest)}" if rest else "")
            return self._signed_in(request, request.query_params["token"], place)
        try:
            request.state.user = self._check(request, token_of(request))
        except NoAccess as error:
            if not has_users:
                return self._sign_in(f"{error}.", "", 403)
            problem = "Unknown access token." if token_of(request) else ""
            return self._sign_in(problem, path if request.method == "GET" else f"{self._root}/", 401)
        return None

    def _signed_in(self, request: Request, token: str, place: str) -> Response:
        """Back to the page that was asked for, with the token in a cookie; or the form again."""
        if not place.startswith(f"{self._root}/"):
            place = f"{self._root}/"
        try:
            self._check(request, token.strip())
        except NoAccess:
            return self._sign_in("Unknown access token.", place, 401)
        answer = RedirectResponse(place, 303)
        answer.set_cookie(
            _cookie(request),
            token.strip(),
            max_age=_YEAR_S,
            path=self._root,
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="lax",  # a link from elsewhere finds the user signed in
        )
        return answer

    def _check(self, request: Request, token: str) -> str:
        """The user's name. Raises NoAccess."""
        client = request.client.host if request.client else None
        return identity(self._settings, f"Bearer {token}", client, dict(request.headers))


def token_of(request: Request) -> str:
    """The access token that a request brings, in its header or its cookie; '' for none."""
    scheme, _, token = request.headers.get("authorization", "").strip().partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return request.cookies.get(_cookie(request), "")


def is_foreign(request: Request) -> bool:
    """Whether another site's page sent a request, as browsers tell."""
    if site := request.headers.get("sec-fetch-site"):
        return site not in ("same-origin", "none")
    origin = request.headers.get("origin")  # by plain HTTP, browsers send no more than this
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host")


def _cookie(request: Request) -> str:
    """A name for this port's own: cookies are shared between the ports of a host."""
    return f"forethought-{request.url.port or request.url.scheme}"
