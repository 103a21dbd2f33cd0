"""Live pages: server-sent events that say that a thread has changed, so that its page is fetched again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from forethought.app.viewer.runs import Refused, UnknownThread
from forethought.app.viewer.site import runs_of

_QUIET_S = 20
"""After so long without a change a comment is sent: what lies between may close a silent connection."""


async def changes(request: Request) -> Response:
    """An event with the thread's mark whenever it is not the one of the page (`mark`) any more."""
    runs, thread_id = runs_of(request), request.path_params["thread"]
    is_closing = getattr(request.app.state, "is_closing", lambda: False)
    await runs.mark(thread_id)  # an unknown thread gets its page

    async def events() -> AsyncIterator[str]:
        mark, quiet = request.query_params.get("mark", ""), 0.0
        while not is_closing():
            try:
                now = await runs.mark(thread_id)
            except (UnknownThread, Refused):  # it was deleted, or the server ends
                return
            if now != mark or quiet >= _QUIET_S:
                yield ": still here\n\n" if now == mark else f"data: {now}\n\n"
                mark, quiet = now, 0.0
            await asyncio.sleep(runs.poll_s)
            quiet += runs.poll_s

    return StreamingResponse(events(), media_type="text/event-stream")


ROUTES = [Route("/threads/{thread}/changes", changes, name="changes")]
