"""The pages of one thread: its run, its branches, the difference of two of them."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from forethought.app.threads.branches import NoSuchBranch, compare, list_branches
from forethought.app.threads.thread import is_debugging
from forethought.app.viewer.run_data import debugging_data, run_data
from forethought.app.viewer.runs import Json
from forethought.app.viewer.site import page, runs_of


async def run(request: Request, form: Json | None = None, status: int = 200) -> Response:
    """One thread: its present task, from plan to answer; or a debugging.

    `form` is what was posted and could not be used, with the `problem`.
    """
    thread_id = request.path_params["thread"]
    if is_debugging(thread_id):
        return page("debugging.html.j2", debugging=await debugging_data(runs_of(request), thread_id))
    step, at, version = (_number(request, name) for name in ("step", "page", "version"))
    checkpoint = request.query_params.get("checkpoint", "")
    mark = await runs_of(request).mark(thread_id)  # before the state: a change in between shows at once
    return page(
        "run.html.j2",
        status,
        form=form or {},
        mark=mark,
        **await run_data(runs_of(request), thread_id, checkpoint, step=step, page=at, version=version),
    )


async def branches(request: Request) -> Response:
    """A thread's branches, and with `a` and `b` how two of them differ."""
    thread_id = request.path_params["thread"]
    a, b = (request.query_params.get(name, "") for name in ("a", "b"))
    records = await list_branches(runs_of(request), thread_id)
    difference, problem = None, ""
    if a or b:
        try:
            difference = await compare(runs_of(request), thread_id, a, b)
        except NoSuchBranch as error:
            raise HTTPException(404, f"the thread has no branch {error}") from error
        except ValueError:
            problem = "Choose two different branches."
    return page(
        "branches.html.j2",
        thread_id=thread_id,
        branches=records,
        difference=difference,
        problem=problem,
        a=a,
        b=b,
    )


def _number(request: Request, name: str) -> int:
    """A number of the query; 0 where it is none."""
    text = request.query_params.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 10 else 0
