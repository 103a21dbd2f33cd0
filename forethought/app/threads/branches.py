"""`show --branches` and `show --diff`: a thread's branches and their differences.

Checkpoints form a tree. Where one has several children, the oldest continues its branch and each younger one
begins a branch of its own (a fork, a re-run of the debugger). So a branch keeps its number, however far it
grows. Nothing is erased: every branch can be looked at and compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forethought.app import view
from forethought.app.errors import CliError
from forethought.app.report import report
from forethought.app.text import first_lines, one_line
from forethought.text import how_many

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from forethought.app.threads.thread import Thread

Json = dict[str, Any]
_STEPS = 50
"""Most differing steps that are printed."""


class Snapshots(Protocol):
    """The states of threads, wherever they are kept."""

    async def snapshot(self, thread_id: str, checkpoint: str = "") -> StateSnapshot:
        """The thread's newest state, or that of a checkpoint."""
        ...

    async def tree(self, thread_id: str) -> Mapping[str, str | None]:
        """The parent of each checkpoint, by id."""
        ...

    async def is_running(self, thread_id: str) -> bool:
        """Whether some process runs the thread at this moment."""
        ...


@dataclass(frozen=True)
class OfThread:
    """The snapshots of one open thread."""

    thread: Thread

    async def snapshot(self, thread_id: str, checkpoint: str = "") -> StateSnapshot:
        """See Snapshots."""
        return await (state_at(self.thread, checkpoint) if checkpoint else self.thread.snapshot())

    async def tree(self, thread_id: str) -> Mapping[str, str | None]:
        """See Snapshots."""
        return await self.thread.saver.tree(thread_id)

    async def is_running(self, thread_id: str) -> bool:
        """See Snapshots."""
        return bool(await self.thread.saver.locked_threads([thread_id]))


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
    """The branches, from each checkpoint's parent. Ids sort by time."""
    children: dict[str | None, list[str]] = {}
    for child in sorted(parents):
        parent = parents[child]
        children.setdefault(parent if parent in parents else None, []).append(child)
    starts: list[tuple[str, str | None]] = [(root, None) for root in children.get(None, [])]
    starts += [(child, parent) for parent, own in children.items() if parent for child in own[1:]]
    branches = []
    for number, (first, origin) in enumerate(sorted(starts), 1):
        leaf = first
        while leaf in children:
            leaf = children[leaf][0]
        branches.append(Branch(number, leaf, first, origin))
    return branches


async def state_at(thread: Thread, checkpoint: str) -> StateSnapshot:
    """The state of one checkpoint of the thread."""
    config = {"configurable": {"thread_id": thread.id, "checkpoint_id": checkpoint}}
    snapshot: StateSnapshot = await thread.graph.aget_state(config)
    return snapshot


async def list_branches(snapshots: Snapshots, thread_id: str) -> list[Json]:
    """The thread's branches, oldest first, as `show --branches --json` prints them."""
    branches = branches_of_tree(await snapshots.tree(thread_id))
    head = max(branch.leaf for branch in branches)
    running = await snapshots.is_running(thread_id)
    described = []
    for branch in branches:
        leaf = await snapshots.snapshot(thread_id, branch.leaf)
        result = report(thread_id, leaf, running=running and branch.leaf == head)
        # Guidance is read where the branch begins: an answered task lets go of it.
        first = await snapshots.snapshot(thread_id, branch.first)
        described.append(_describe(branch, branch.leaf == head, result, leaf, first))
    return described


def _describe(branch: Branch, is_head: bool, result: Json, leaf: StateSnapshot, first: StateSnapshot) -> Json:
    steps = [step["n"] for step in first.values.get("trajectory") or []]
    base = (first.values.get("progress") or {}).get("base_n", 0)
    forked = branch.origin is not None
    return {
        "head": is_head,
        "forked_before": max([*steps, base]) + 1 if forked else None,
        "at": first.next[0] if forked and first.next else "",
        "guidance": list((first if forked else leaf).values.get("guidance") or []),
        "score": result["score"],
        **_summary({**result, "branch": branch.leaf, "number": branch.number}),
    }


def _summary(result: Json) -> Json:
    """A branch as a difference names it."""
    tokens = result["usage"]["input_tokens"] + result["usage"]["output_tokens"]
    names = {name: result[name] for name in ("number", "branch", "status", "answer")}
    return {**names, "steps": len(result["steps"]), "tokens": tokens}


class NoSuchBranch(LookupError):
    """No branch of the thread has this number or id."""


async def compare(snapshots: Snapshots, thread_id: str, name: str, other: str = "") -> Json:
    """What differs from a branch to an `other` one (the head), each named by its number or its id.

    {a, b, same_steps, parts_at, steps, answer_differs, more_tokens}; `steps` holds those that differ, {n, a,
    b}, with null where a branch has no such step. Two steps are the same when the same was done and the same
    came back. Steps of earlier tasks count. Raises NoSuchBranch; ValueError if both are the same branch.
    """
    branches = branches_of_tree(await snapshots.tree(thread_id))
    by_name = {name: one for one in branches for name in (str(one.number), one.leaf)}
    by_name[""] = max(branches, key=lambda one: one.leaf)
    try:
        old, new = (by_name[one.strip().lstrip("#")] for one in (name, other))
    except KeyError as error:
        raise NoSuchBranch(str(error)) from None
    if old == new:
        raise ValueError("--diff names the current branch")
    results = []
    for branch in (old, new):
        state = await snapshots.snapshot(thread_id, branch.leaf)
        steps = state.values.get("trajectory") or []
        ids = {"branch": branch.leaf, "number": branch.number, "steps": steps}
        results.append({**report(thread_id, state), **ids})
    return difference(*results)


async def compare_with_head(thread: Thread, name: str) -> Json:
    """See `compare`. Raises CliError if `name` names no other branch."""
    try:
        return await compare(OfThread(thread), thread.id, name)
    except (NoSuchBranch, ValueError) as error:
        count = len(branches_of_tree(await thread.saver.tree(thread.id)))
        raise CliError(
            f"--diff: name one of the {count} branches other than the current one, by its number; see: "
            f"forethought show {thread.id} --branches"
        ) from error


def difference(old: Json, new: Json) -> Json:
    """See `compare`: the reports on two branches, with their ids."""
    a, b = _summary(old), _summary(new)
    seen_a, seen_b = ({step["n"]: _done(step) for step in result["steps"]} for result in (old, new))
    numbers = sorted(seen_a.keys() | seen_b.keys())
    differing = [n for n in numbers if seen_a.get(n) != seen_b.get(n)]
    return {
        "a": a,
        "b": b,
        "same_steps": len(numbers) - len(differing),
        "parts_at": differing[0] if differing else None,
        "steps": [{"n": n, "a": seen_a.get(n), "b": seen_b.get(n)} for n in differing],
        "answer_differs": a["answer"].strip() != b["answer"].strip(),
        "more_tokens": b["tokens"] - a["tokens"],
    }


def _done(step: Json) -> Json:
    """What a step did and what it saw."""
    did = f"{step.get('subtask')}: {view.move(step, width=2000)}"
    return {"did": did, "observation": str(step.get("observation") or "")}


def render_branches(records: Sequence[Json]) -> RenderableType:
    """The branches: where they began, what became of them, and their answers."""
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for name in ("branch", "forked before", "status", "steps", "tokens", "guidance", "answer"):
        table.add_column(name, overflow="fold")
    for record in records:
        forked = record["forked_before"]
        cells = [
            f"{record['number']}{'*' * record['head']}",
            f"step {forked}" if forked else "",
            record["status"],
        ]
        cells += [str(record["steps"]), f"{record['tokens']:,}"]
        cells += [one_line("; ".join(record["guidance"]), 200), one_line(record["answer"], 200)]
        table.add_row(*map(Text, cells))
    return Group(table, Text("* current branch, which `show` and `resume` use", style="dim"))


def render_difference(record: Json) -> RenderableType:
    """Two branches, from the step where they part to their answers."""
    a, b = record["a"], record["b"]
    same = f"{record['same_steps']} steps are the same"
    lines = [
        Text(f"- branch {a['number']}: {a['status']}, {_steps(a)}", style="red"),
        Text(f"+ branch {b['number']}, current: {b['status']}, {_steps(b)}", style="green"),
        Text(f"{same}; they diverge at step {record['parts_at']}" if record["steps"] else f"all {same}"),
    ]
    for step in record["steps"][:_STEPS]:
        lines += [*_side("-", step["n"], step["a"]), *_side("+", step["n"], step["b"])]
    for sign, style, run in (("-", "red", a), ("+", "green", b)):
        lines.append(Text(f"{sign} answer: {one_line(run['answer'], 300)}", style=style))
    return Group(*lines, Text(f"tokens: {a['tokens']:,} and {b['tokens']:,}", style="dim"))


def _steps(one: Json) -> str:
    return how_many(one["steps"], "step")


def _side(sign: str, n: int, step: Json | None) -> Iterator[Text]:
    """The lines of one branch's step."""
    if step is not None:
        style = "red" if sign == "-" else "green"
        yield Text(f"{sign} #{n} {one_line(step['did'], 160)}", style=style)
        yield from (Text(f"{sign}     {line}", style=style) for line in first_lines(step["observation"], 8))
