"""The threads page: newest first, searched by a plain form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from forethought.app.threads.entries import add_seconds
from forethought.app.viewer.runs import Json
from forethought.app.viewer.site import number, page, runs_of

SEARCHED = 2_000
"""Newest threads that a page lists and a search reads."""
PAGE = 50
STATUSES = ("answered", "best_effort", "budget_exhausted", "failed", "interrupted", "running", "stopped")


async def threads(request: Request) -> Response:
    """The threads that the form asks for: `q` (words), `status`, `page` (from 1)."""
    runs = runs_of(request)
    query, status = request.query_params.get("q", "").strip(), request.query_params.get("status", "")
    wanted = number(request.query_params.get("page", "")) or 1
    # Without a search, no more is read than is shown, and one to tell whether there is a next page.
    everything = await runs.threads(SEARCHED if query or status else min(wanted * PAGE + 1, SEARCHED))
    listed = select(everything, query, status)
    shown = listed[(wanted - 1) * PAGE : wanted * PAGE]

    async def state_of(thread_id: str) -> Mapping[str, Any]:
        return (await runs.snapshot(thread_id)).values

    known: dict[tuple[str, str], Any] = request.app.state.seconds
    listed_here = [one for thread in shown for one in (thread, *thread["debuggings"])]
    await add_seconds([one for one in listed_here if _version(one) not in known], state_of)
    known.update((_version(one), one["seconds"]) for one in listed_here if "seconds" in one)
    for one in listed_here:
        one["seconds"] = known[_version(one)]
    return page(
        "threads.html.j2",
        threads=shown, query=query, status=status, number=wanted, more=len(listed) > wanted * PAGE,
        found=len(listed) if query or status else None, searched=SEARCHED,
        statuses=STATUSES,
    )  # fmt: skip


def select(entries: Sequence[Json], query: str, status: str) -> list[Json]:
    """The entries in which every word of `query` is found and whose status is `status` ('' any).

    A debugging is listed with its thread, as an item of the thread's `debuggings`, if that is here.
    """
    own = {one["thread_id"]: {**one, "debuggings": []} for one in entries}
    top: list[Json] = []
    for one in own.values():
        debugged = own.get(one["debugs"]) if one["debugs"] else None
        (debugged["debuggings"] if debugged else top).append(one)
    words = query.casefold().split()
    return [one for one in top if status in ("", one["status"]) and all(word in _text(one) for word in words)]


def _version(entry: Json) -> tuple[str, str]:
    return entry["thread_id"], entry["time"]


def _text(entry: Json) -> str:
    return f"{entry['thread_id']}\n{entry['task']}\n{entry['answer']}".casefold()
