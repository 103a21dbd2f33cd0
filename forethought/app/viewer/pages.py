"""The pages: which data each one shows."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from forethought.app.viewer.run_data import run_data
from forethought.app.viewer.site import page, runs_of
from forethought.app.viewer.thread_list import threads


async def run(request: Request) -> Response:
    """One thread: its present task, from plan to answer."""
    thread_id = request.path_params["thread"]
    data = await run_data(runs_of(request), thread_id)
    return page("run.html.j2", **data)


ROUTES = [
    Route("/", threads, name="threads"),
    Route("/threads/{thread}", run, name="run"),
]
