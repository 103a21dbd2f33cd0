"""The text of a plan in prompts: whole, in short, or one subtask of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from forethought.nodes.support.prompt_text import call_text
from forethought.nodes.support.shares import LINE_CHARS, MANY
from forethought.sizes import Sizes
from forethought.state.agent import Plan, Subtask
from forethought.state.plan_words import own_words
from forethought.text import cut, one_line

OUTLINE_CHARS = 6_000
"""Characters of a plan in short."""
_HEAD = 40
"""Characters of a description in the outline of a very large plan."""


def subtask_text(subtask: Subtask) -> str:
    """A subtask as its worker sees it."""
    lines = [subtask["description"]]
    if subtask["expected"]:
        lines.append(f"Expected result: {subtask['expected']}")
    return "\n".join(lines)


def plan_text(plan: Plan, *, only_open: bool = False) -> str:
    """The plan, a block a subtask, with each one's status. Of a very long plan the finished ones are a
    number: their results stand beside it."""
    subtasks = plan.get("subtasks", [])
    facts = {"Known": plan.get("known"), "To be found out": plan.get("open")}
    whole = [subtask for subtask in subtasks if subtask["status"] != "finished"]
    lines = [f"{name}: {'; '.join(items)}" for name, items in facts.items() if items and subtasks]
    blocks = ["\n".join(lines)] if lines else []
    if not only_open and len(subtasks) <= MANY:
        whole = subtasks
    elif not only_open:
        blocks += [f"{len(subtasks) - len(whole)} subtasks are finished besides those below."]
    for subtask in whole:
        after = f", after {', '.join(subtask['depends_on'])}" if subtask["depends_on"] else ""
        block = f"{subtask['id']} [{subtask['status']}{after}]\n{subtask_text(subtask)}"
        begins = call_text(call) if (call := subtask.get("call")) and subtask["status"] == "pending" else ""
        if begins not in block:
            block += f"\nBegins with: {begins}"
        blocks.append(block)
    return "\n\n".join(blocks)


def plan_outline(plan: Plan, sizes: Sizes, *, known: bool = False) -> str:
    """The plan in short, a line a subtask: id, status and the head of its description; after what is `known`
    from passages that the reader does not see."""
    lines = [f"Known: {'; '.join(plan['known'])}"] if known and plan.get("known") else []
    lines += [
        f"{item['id']} [{item['status']}]: {one_line(own_words(item['description'])[0], LINE_CHARS)}"
        for item in plan.get("subtasks", [])
    ]
    return cut("\n".join(lines), min(OUTLINE_CHARS, sizes.written))


def work_outline(plan: Plan, sizes: Sizes) -> str:
    """The plan as all its workers see it, without statuses: ids and the head of each description. Subtasks in
    a row with the same description share a line; '' if there is only one."""
    subtasks, room = plan.get("subtasks", []), min(OUTLINE_CHARS * 2 // 3, sizes.written)
    groups = [(words, list(group)) for words, group in groupby(subtasks, key=itemgetter("description"))]
    limit = max(_HEAD, min(LINE_CHARS, room // max(len(groups), 1)))
    lines = [f"{_ids(group)}: {one_line(words, limit)}" for words, group in groups]
    return cut("\n".join(lines), room) if len(subtasks) > 1 else ""


def _ids(subtasks: Sequence[Subtask]) -> str:
    first, last = subtasks[0]["id"], subtasks[-1]["id"]
    return first if len(subtasks) == 1 else f"{first} to {last}"
