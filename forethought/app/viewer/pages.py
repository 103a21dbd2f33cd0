"""The pages: which data each one shows."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from forethought.app.viewer.run_data import run_data
from forethought.app.viewer.runs import Json
from forethought.app.viewer.site import page, runs_of


async def threads(request: Request) -> Response:
    """The list of threads."""
    return page("threads.html.j2", threads=await runs_of(request).threads(200))


async def run(request: Request, form: Json | None = None, status: int = 200) -> Response:
    """One thread: its present task, from plan to answer.

    `form` is what was posted and could not be used, with the `problem`.
    """
    runs, thread_id = runs_of(request), request.path_params["thread"]
    mark = await runs.mark(thread_id)  # before the state: a change in between shows at once
    data = await run_data(runs, thread_id)
    return page("run.html.j2", status, mark=mark, form=form or {}, **data)


ROUTES = [
    Route("/", threads, name="threads"),
    Route("/threads/{thread}", run, name="run"),
]
