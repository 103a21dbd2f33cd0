"""The viewer as an application: its routes, its templates, and the headers of every reply.

Everything that a template writes is data of a run, so hostile: Jinja escapes it, and `show` writes hidden and
reordering characters out. The policy lets a page load only what this application serves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlencode

from jinja2 import DictLoader, Environment, StrictUndefined
from starlette.applications import Starlette
from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forethought.app import view
from forethought.app.text import clean, one_line, to_json
from forethought.app.viewer.access import Access
from forethought.app.viewer.prose import prose
from forethought.app.viewer.runs import Refused, Runs, UnknownThread
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.state.plan_words import own_words
from forethought.text import how_many

HERE = Path(__file__).parent
ROOT = "/view"
"""Where the pages are, on a LangGraph server beside its API."""
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
}


def environment() -> Environment:
    """The templates, where every value is cleaned and escaped."""
    folder = HERE / "templates"
    # Read at once, since a server refuses to wait for its disk while it answers.
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.j2")}
    templates = Environment(
        loader=DictLoader({name: path.read_text("utf-8") for name, path in files.items()}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_show,
    )
    templates.filters |= {
        "line": one_line,
        "json": to_json,
        "seconds": view.seconds,
        "call": _call,
        "prose": prose,
        "words": _words,
        "own_words": lambda description: own_words(description)[0],
    }
    templates.filters |= {"how_many": how_many, "local_time": _local_time}
    templates.globals |= {"root": ROOT, "usage_line": view.usage_line, "address": _address}
    templates.globals |= {"efforts": get_args(Context.model_fields["effort"].annotation), "form": {}}
    return templates


def _show(value: Any) -> Any:
    """A value as a page shows it: no control characters, none that reorder what a person reads."""
    return clean(value) if type(value) is str else value


def _local_time(time: str) -> str:
    """A time in ISO 8601, as this machine's clock tells it."""
    return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"


def _words(name: object) -> str:
    """A name of the state's, such as best_effort, as a page writes it."""
    return str(name).replace("_", " ")


def _address(query: Mapping[str, Any], **changes: Any) -> str:
    """The same page with another query."""
    return "?" + urlencode({name: value for name, value in {**query, **changes}.items() if value})


def _call(step: Mapping[str, Any]) -> str:
    return view.move(dict(step), width=200)


TEMPLATES = environment()


def page(name: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    """A page from its template."""
    return HTMLResponse(TEMPLATES.get_template(name).render(**values), status)


def number(text: str) -> int:
    """A number of a query or a form; 0 where it is none."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def runs_of(request: Request) -> Runs:
    """The runs that the user of this request may see."""
    runs: Runs = request.app.state.runs_for(request)
    return runs


async def _failed(request: Request, error: Exception) -> Response:
    detail = error.detail if isinstance(error, HTTPException) else f"there is no thread {one_line(error)}"
    status = HTTPStatus(getattr(error, "status_code", 404))
    return page("error.html.j2", status, title=status.phrase.capitalize(), text=detail)


async def _refused(request: Request, error: Exception) -> Response:
    return page("error.html.j2", 409, title="This cannot be done", text=str(error))


def _sign_in(problem: str, place: str, status: int) -> Response:
    """The form that asks for an access token; without one to ask for, the reason alone."""
    if not place:
        return page("error.html.j2", status, title="No access", text=problem)
    return page("sign_in.html.j2", status, problem=problem, next=place)


async def home(request: Request) -> Response:
    """To the first page."""
    return RedirectResponse(f"{ROOT}/")


class _Headers:
    """Adds `HEADERS` to every reply."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_static = scope.get("path", "").startswith(
            f"{ROOT}/static/"
        )  # nothing of a run: kept, and asked after

        async def send_with(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = HEADERS | ({"cache-control": "no-cache"} if is_static else {})
                named = ((name.encode(), value.encode()) for name, value in headers.items())
                message["headers"] = [*message["headers"], *named]
            await send(message)

        await self.app(scope, receive, send_with)


def make_pages(
    runs_for: Callable[[Request], Runs], settings: Settings, state: State | None = None
) -> ASGIApp:
    """The pages, to be mounted at `ROOT`, behind the rules of access.

    They are an application of their own, so that nothing of it (headers, error pages) reaches what it is
    mounted beside.
    """
    from forethought.app.viewer import actions, live, pages

    static = Mount("/static", StaticFiles(directory=HERE / "static"))
    app = Starlette(
        routes=[*pages.ROUTES, *actions.ROUTES, *live.ROUTES, static],
        exception_handlers={UnknownThread: _failed, HTTPException: _failed, Refused: _refused},
    )
    app.state = State() if state is None else state
    app.state.runs_for, app.state.settings, app.state.seconds = runs_for, settings, {}
    return _Headers(Access(app, settings, ROOT, _sign_in))


def make_site(runs_for: Callable[[Request], Runs], settings: Settings, **options: Any) -> Starlette:
    """The application of `forethought view`, whose pages share its state. `options` are Starlette's."""
    state = State()
    pages = make_pages(runs_for, settings, state)
    site = Starlette(routes=[Route("/", home), Mount(ROOT, app=pages)], **options)
    site.state = state
    return site
