"""The pages of one thread: its run, its branches, the difference of two of them."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from forethought.app.text import to_json
from forethought.app.threads.branches import NoSuchBranch, compare, list_branches
from forethought.app.threads.thread import is_debugging
from forethought.app.viewer.run_data import debugging_data, run_data
from forethought.app.viewer.runs import Json
from forethought.app.viewer.site import number, page, runs_of


async def run(request: Request, form: Json | None = None, status: int = 200) -> Response:
    """One thread: its present task, from plan to answer; or a debugging.

    `form` is what was posted and could not be used, with the `problem`.
    """
    thread_id = request.path_params["thread"]
    if is_debugging(thread_id):
        return page("debugging.html.j2", debugging=await debugging_data(runs_of(request), thread_id))
    step, at, version = (number(request.query_params.get(name, "")) for name in ("step", "page", "version"))
    checkpoint = request.query_params.get("checkpoint", "")
    mark = await runs_of(request).mark(thread_id)  # before the state: a change in between shows at once
    data = await run_data(runs_of(request), thread_id, checkpoint, step=step, page=at, version=version)
    filled = {"before": request.query_params.get("before", ""), **_refused(data["result"]), **(form or {})}
    return page("run.html.j2", status, form=filled, mark=mark, **data)


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


def _refused(result: Json) -> Json:
    """The fields of the open questions, filled with the replies that the run could not use."""
    filled: Json = {}
    for question in result.get("interrupts", []):
        match question.get("refused"):
            case {"decision": decision, **rest}:
                value = to_json(rest["value"]) if rest.get("value") is not None else ""
                fields = {"decision": decision, "value": value, "reason": rest.get("reason") or ""}
                filled |= {f"{name}:{question['id']}": text for name, text in fields.items()}
    return filled
