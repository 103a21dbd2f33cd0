"""The answer agent's prompt, and how many tokens it takes: what is kept back for it is measured by it."""

from __future__ import annotations

from typing import Any

from forethought.models.tokens import estimate_tokens
from forethought.models.types import Message
from forethought.nodes.support.prompt_text import earlier_items, files_text, step_items, trajectory
from forethought.prompts.render import render
from forethought.state.agent import AgentState, Step
from forethought.state.context import Context

_TAG_CHARS = 100
"""More than the tags and words around an item take."""


def answer_messages(state: AgentState, context: Context) -> list[Message]:
    """The answer agent's prompt: task, the whole trajectory, the results, and what was not done."""
    system, user = render("answer_agent", **_values(state, context))
    return [Message("system", system), Message("user", user)]


def answer_prompt_tokens(state: AgentState, context: Context) -> int:
    """An estimate of the prompt's tokens, never below that of its rendered text: rendering a long run takes
    much longer, and this is asked for several times a step."""
    values = _values(state, context)
    items = [str(step["text"]) for step in values["steps"]]
    items += [item["task"] + item["answer"] for item in values["earlier"]]
    fixed = render("answer_agent", **{**values, "steps": [], "earlier": []})
    # A "<" that could close a tag is rendered with a character more.
    around = sum(_TAG_CHARS + text.count("<") for text in items)
    return estimate_tokens("".join([*fixed, *items]) + " " * around)


def _values(state: AgentState, context: Context) -> dict[str, Any]:
    subtasks = state.get("plan", {}).get("subtasks", [])
    left_open = [
        f"{s['id']} [{s['status']}]: {s['description']}" for s in subtasks if s["status"] != "finished"
    ]
    progress = state.get("progress", {})
    return {
        "intra": context.answer_intra,
        "foresees": context.foresees_user,
        "task": state.get("task", ""),
        "answer_format": context.answer_format,
        "files": files_text(state.get("files", [])),
        "guidance": state.get("guidance", []),
        "earlier": earlier_items(progress),
        "steps": step_items(trajectory(state), lambda step: _standing(step, state)),
        "open": "\n".join(left_open),
        "stopped": progress.get("stopped", "") if left_open or not subtasks else "",
    }


def _standing(step: Step, state: AgentState) -> str:
    """What a finishing step's result is worth now: it stands, or it was discarded by a later plan."""
    if not step["finished"]:
        return ""
    result = state.get("results", {}).get(step["subtask"])
    if result and result["n"] == step["n"]:
        return "\nThis is the subtask's result."
    return "\nThis result was discarded by a later plan: do not rest on it."
