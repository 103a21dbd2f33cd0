"""The branches of a thread, and how two of them differ: `show --branches` and `show --diff`.

Checkpoints form a tree. Where one has several children, the oldest continues its branch and each younger one
begins a branch of its own (a fork, a re-run of the debugger). So a branch keeps its number, however far it
grows. Nothing is erased: every branch can be looked at and compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from forethought.app.errors import CliError
from forethought.app.report import report
from forethought.app.text import one_line
from forethought.app.threads.diff import Run, difference, run_of_report

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from forethought.app.threads.thread import Thread

Json = dict[str, Any]


@dataclass(frozen=True)
class Branch:
    """A branch in the tree of checkpoints."""

    number: int
    """From 1, in the order in which the branches began."""
    leaf: str
    """Id of its last checkpoint."""
    first: str
    """Id of the first checkpoint of its own."""
    origin: str | None
    """Id of the checkpoint that it was forked from; None for the first branch."""


def branches_of_tree(parents: Mapping[str, str | None]) -> list[Branch]:
    """The branches of a tree, given each checkpoint's parent. Ids sort by the time of their making."""
    children: dict[str | None, list[str]] = {}
    for child in sorted(parents):
        parent = parents[child]
        children.setdefault(parent if parent in parents else None, []).append(child)
    starts: list[tuple[str, str | None]] = [(root, None) for root in children.get(None, [])]
    starts += [(child, parent) for parent, own in children.items() if parent for child in own[1:]]
    found = []
    for number, (first, origin) in enumerate(sorted(starts), 1):
        leaf = first
        while leaf in children:
            leaf = children[leaf][0]
        found.append(Branch(number, leaf, first, origin))
    return found


async def state_at(thread: Thread, checkpoint: str) -> StateSnapshot:
    """The state of one checkpoint of the thread."""
    config = {"configurable": {"thread_id": thread.id, "checkpoint_id": checkpoint}}
    snapshot: StateSnapshot = await thread.graph.aget_state(config)
    return snapshot


async def list_branches(thread: Thread) -> list[Json]:
    """The thread's branches, oldest first, as `show --branches --json` prints them."""
    found = branches_of_tree(await thread.saver.tree(thread.id))
    head = max((branch.leaf for branch in found), default="")
    return [await _describe(thread, branch, branch.leaf == head) for branch in found]


async def compare_with_head(thread: Thread, name: str) -> Json:
    """The difference from the named branch to the thread's head. Raises CliError: there is none."""
    found = branches_of_tree(await thread.saver.tree(thread.id))
    other = _find(found, name, thread.id)
    head = max(branch.leaf for branch in found)
    if other.leaf == head:
        raise CliError(
            f"thread {thread.id}: branch {other.number} is its head: name another branch "
            f"(see `forethought show {thread.id} --branches`)"
        )
    return difference(await _run_at(thread, other.leaf), await _run_at(thread, head))


async def _run_at(thread: Thread, checkpoint: str) -> Run:
    return run_of_report(checkpoint, report(thread.id, await state_at(thread, checkpoint)))


def _find(found: Sequence[Branch], name: str, thread_id: str) -> Branch:
    """The branch that a person names by its number or its checkpoint's id. Raises CliError."""
    name = name.strip().removeprefix("#")
    for branch in found:
        if name == str(branch.number) or name == branch.leaf:
            return branch
    there = "it has one only" if len(found) == 1 else f"its branches are 1 to {len(found)}"
    raise CliError(
        f"thread {thread_id} has no branch {one_line(name, 40)!r}; {there}: see "
        f"`forethought show {thread_id} --branches`"
    )


async def _describe(thread: Thread, branch: Branch, is_head: bool) -> Json:
    snapshot = await state_at(thread, branch.leaf)
    result = report(thread.id, snapshot)
    if result["status"] == "running" and not is_head:
        result["status"] = "stopped"
    return {
        "number": branch.number,
        "branch": branch.leaf,
        "head": is_head,
        **await _fork_point(thread, branch, snapshot),
        "status": result["status"],
        "answer": result["answer"],
        "score": result["score"],
        "steps": len(result["steps"]),
        "tokens": result["usage"]["input_tokens"] + result["usage"]["output_tokens"],
    }


async def _fork_point(thread: Thread, branch: Branch, leaf: StateSnapshot) -> Json:
    """Before which step the branch left another one, which node ran first on it, and with what guidance."""
    if branch.origin is None:
        guidance = leaf.values.get("guidance") or (leaf.values.get("progress") or {}).get("guidance")
        return {"forked_before": None, "at": "", "guidance": list(guidance or [])}
    # Guidance is read where the branch begins: an answered task lets go of it.
    first = await state_at(thread, branch.first)
    steps = [step["n"] for step in first.values.get("trajectory") or []]
    return {
        "forked_before": max([*steps, (first.values.get("progress") or {}).get("base_n", 0)]) + 1,
        "at": first.next[0] if first.next else "",
        "guidance": list(first.values.get("guidance") or []),
    }


def render_branches(records: Sequence[Json]) -> RenderableType:
    """The branches: where they began, what became of them, and their answers."""
    lines: list[RenderableType] = []
    for record in records:
        facts = [_fork_text(record), record["status"]]
        facts += [f"{record['steps']} steps", f"{record['tokens']:,} tokens"]
        mark = "*" if record["head"] else ""
        lines.append(Text(f"{record['number']}{mark} {one_line(record['branch'], 60)}", style="bold"))
        lines.append(Text(f"   {', '.join(facts)}"))
        lines += [Text(f"   guidance: {one_line(item, 200)}", style="dim") for item in record["guidance"]]
        if record["answer"]:
            lines.append(Text(f"   answer: {one_line(record['answer'], 200)}"))
    return Group(*lines, Text("* the head, which `show` and `resume` mean", style="dim"))


def _fork_text(record: Json) -> str:
    """Before what the branch was forked."""
    if record["forked_before"] is None:
        return "the first run"
    what = {"planner": "the plan of step", "answer_agent": "the answer after step"}.get(record["at"], "step")
    return f"before {what} {record['forked_before'] - (record['at'] == 'answer_agent')}"
