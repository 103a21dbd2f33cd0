"""show --branches and show --diff: the ways that a thread took, side by side, without running anything."""

from __future__ import annotations

import asyncio
from typing import Any

from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, CliError
from forethought.app.options import Flags
from forethought.app.report import report
from forethought.app.text import to_json
from forethought.app.threads import diff_display
from forethought.app.threads.branches import at, branches_of, chosen, places_of
from forethought.app.threads.diff import Side, difference, side_of_report
from forethought.app.threads.thread import Thread, read_thread

Json = dict[str, Any]


def show_branches(thread_id: str, flags: Flags, as_json: bool) -> int:
    """List the thread's branches, oldest first."""

    async def read() -> list[Json]:
        async with read_thread(thread_id, flags) as thread:
            return await branches_of(thread)

    found = asyncio.run(read())
    if as_json:
        print(to_json({"thread_id": thread_id, "branches": found}))
    else:
        make_console().print(diff_display.branches(found))
    return ANSWERED


def show_difference(thread_id: str, branch: str, flags: Flags, as_json: bool) -> int:
    """Compare another branch with the thread's head. Raises CliError when there is no such branch."""

    async def read() -> Json:
        async with read_thread(thread_id, flags) as thread:
            return await difference_of(thread, branch)

    found = asyncio.run(read())
    if as_json:
        print(to_json({"thread_id": thread_id, **found}))
    else:
        make_console().print(diff_display.difference(found))
    return ANSWERED


async def difference_of(thread: Thread, branch: str) -> Json:
    """From the branch that is named to the thread's head."""
    found = await places_of(thread)
    other = chosen(found, branch, thread.id)
    head = max(place.leaf for place in found)
    if other.leaf == head:
        raise CliError(
            f"thread {thread.id}: branch {other.number} is its head: name another branch "
            f"(see `forethought show {thread.id} --branches`)"
        )
    return difference(await side(thread, other.leaf), await side(thread, head))


async def side(thread: Thread, checkpoint: str) -> Side:
    """One branch of the thread, by its last checkpoint."""
    return side_of_report(checkpoint, report(thread.id, await at(thread, checkpoint)))
