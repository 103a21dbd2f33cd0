"""The branches of a thread: every way on that was ever taken from one of its checkpoints.

Checkpoints form a tree. Where one has several children, the oldest goes its branch on and each younger one
begins a branch of its own (a fork, a re-run of the debugger). So a branch keeps its number, however far it
grows. Nothing is erased: every branch can be looked at and compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forethought.app.errors import CliError
from forethought.app.report import report, usage_of
from forethought.app.text import one_line

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from forethought.app.threads.thread import Thread

Json = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """A branch in the tree of checkpoints."""

    number: int
    """From 1, in the order in which the branches began."""
    leaf: str
    """Id of its last checkpoint."""
    birth: str
    """Id of its first checkpoint of its own."""
    origin: str | None
    """Id of the checkpoint that it was forked from; None for the first branch."""


def places(parents: Mapping[str, str | None]) -> list[Place]:
    """The branches of a tree, given each checkpoint's parent. Ids sort by the time of their making."""
    children: dict[str | None, list[str]] = {}
    for child in sorted(parents):
        parent = parents[child]
        children.setdefault(parent if parent in parents else None, []).append(child)
    births: list[tuple[str, str | None]] = [(root, None) for root in children.get(None, [])]
    births += [(child, parent) for parent, own in children.items() if parent for child in own[1:]]
    found = []
    for number, (birth, origin) in enumerate(sorted(births), 1):
        leaf = birth
        while leaf in children:
            leaf = children[leaf][0]
        found.append(Place(number, leaf, birth, origin))
    return found


async def branches_of(thread: Thread) -> list[Json]:
    """The thread's branches, oldest first, as `show --branches --json` prints them."""
    found = await places_of(thread)
    head = max((place.leaf for place in found), default="")
    return [await _described(thread, place, place.leaf == head) for place in found]


async def places_of(thread: Thread) -> list[Place]:
    """Where the thread's branches lie."""
    return places(await thread.saver.tree(thread.id))


async def at(thread: Thread, checkpoint: str) -> StateSnapshot:
    """The state of one checkpoint of the thread."""
    names = {"thread_id": thread.id, "checkpoint_id": checkpoint}
    snapshot: StateSnapshot = await thread.graph.aget_state({"configurable": names})
    return snapshot


def chosen(found: Sequence[Place], name: str, thread_id: str) -> Place:
    """The branch that a person names: by number, by checkpoint id, or by its beginning.

    Raises CliError when there is none, or several.
    """
    name = name.strip().removeprefix("#")
    fitting = [place for place in found if name in {str(place.number), place.leaf}]
    if not fitting and len(name) >= 4:
        fitting = [place for place in found if place.leaf.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    what = (
        f"several branches that begin with {one_line(name, 40)}"
        if fitting
        else f"no branch {one_line(name, 40)!r}"
    )
    there = "it has one only" if len(found) == 1 else f"its branches are 1 to {len(found)}"
    raise CliError(f"thread {thread_id} has {what}; {there}: see `forethought show {thread_id} --branches`")


async def _described(thread: Thread, place: Place, is_head: bool) -> Json:
    snapshot = await at(thread, place.leaf)
    result = report(thread.id, snapshot)
    if result["status"] == "running" and not is_head:
        result["status"] = "stopped"
    return {
        "number": place.number,
        "branch": place.leaf,
        "head": is_head,
        **await _fork_point(thread, place, snapshot),
        "status": result["status"],
        "answer": result["answer"],
        "score": result["score"],
        "steps": len(result["steps"]),
        "tokens": tokens(usage_of(snapshot.values)),
    }


async def _fork_point(thread: Thread, place: Place, leaf: StateSnapshot) -> Json:
    """Before which step the branch left another one, which node ran first on it, and with what guidance."""
    if place.origin is None:
        given = leaf.values.get("guidance") or (leaf.values.get("progress") or {}).get("guidance")
        return {"forked_before": None, "at": "", "guidance": list(given or [])}
    # Guidance is read where the branch begins: an answered task lets go of it.
    birth = await at(thread, place.birth)
    kept = [step["n"] for step in birth.values.get("trajectory") or []]
    return {
        "forked_before": max([*kept, (birth.values.get("progress") or {}).get("base_n", 0)]) + 1,
        "at": birth.next[0] if birth.next else "",
        "guidance": list(birth.values.get("guidance") or []),
    }


def tokens(usage: Mapping[str, Any]) -> int:
    """Input and output tokens together."""
    return int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0))
