"""AgentErrorBench's trajectories and labels, as the released files of AgentDebug have them (2.2).

A trajectory is {metadata: {task_id, task, success | won, environment}, messages | chat_history: [...]}. Each
assistant message is a step, whose modules stand between tags. It is told from any other file of messages with
metadata by `chat_history`, or by an environment and an outcome in its metadata. Of the metadata only those
four fields are read; success or won, there or at the top, goes to the reference. Files of labels are read by
the benchmark.
"""

from __future__ import annotations

import re

from forethought.trajectories.format import Format
from forethought.trajectories.messages import Turn, conversation, plain_modules, trajectory_of
from forethought.trajectories.types import Loaded, Reference
from forethought.trajectories.values import Json, first, items, mapping, outcome, text

SOURCE = "agent_error_bench"
_TAGS = ("memory", "memory_recall", "reflection", "plan", "think", "action", "tool_call", "answer")
_TASK = re.compile(r"your task is(?: to)?:\s*(.+)", re.IGNORECASE)
STEP_KEYS = ("critical_failure_step", "critical_step")


def claims(value: object) -> bool:
    """Whether `value` is such a trajectory."""
    whole = mapping(value)
    metadata = mapping(whole.get("metadata"))
    named = "chat_history" in whole or (
        "environment" in metadata and first(metadata, "success", "won") is not None
    )
    return named and isinstance(first(whole, "messages", "chat_history"), list)


def read(value: object, name: str) -> list[Loaded]:
    """The trajectory in `value`; `name` (its file's, which labels go by) is its id."""
    whole = mapping(value)
    metadata = mapping(whole.get("metadata"))
    chat = conversation(items(first(whole, "messages", "chat_history")))
    task = text(metadata.get("task")).strip()
    if not task and (found := _TASK.search(chat.task)):
        task = found[1].strip()
    trajectory = trajectory_of(
        chat,
        id=name or text(metadata.get("task_id")),
        source=SOURCE,
        task=task,
        task_id=text(metadata.get("task_id")),
        environment=text(metadata.get("environment")),
        modules=_modules,
    )
    if trajectory.steps and trajectory.steps[-1].action.startswith("answer: "):
        answer = trajectory.steps[-1].action.removeprefix("answer: ")
        trajectory = trajectory.model_copy(update={"answer": answer})
    reached = outcome(first({**whole, **metadata}, "success", "won"))
    return [Loaded(trajectory=trajectory, reference=Reference(outcome=reached))]


def _modules(turn: Turn) -> Json:
    """A turn's modules by their tags; one without any tag is read as plain words."""
    sections = {tag: inner for tag in _TAGS if (inner := _between(tag, turn.said)) is not None}
    if not sections:
        return plain_modules(turn)
    action = (
        sections.get("action")
        or sections.get("tool_call")
        or plain_modules(turn)["action"] * bool(turn.calls)
    )
    if "answer" in sections:
        action = f"answer: {sections['answer']}"
    return {
        "memory": sections.get("memory") or sections.get("memory_recall", ""),
        "reflection": sections.get("reflection", ""),
        "planning": sections.get("plan") or sections.get("think") or turn.thought,
        "action": action,
    }


def _between(tag: str, said: str) -> str | None:
    """What stands between the first `tag` and its end; one that is not closed is no tag."""
    begun = re.search(f"<{tag}>", said, re.IGNORECASE)
    ended = begun and re.compile(f"</{tag}>", re.IGNORECASE).search(said, begun.end())
    return said[begun.end() : ended.start()].strip() if begun and ended else None


AGENT_ERROR_BENCH = Format(SOURCE, "chat_history, or metadata with environment and outcome", claims, read)


def is_labels(value: object) -> bool:
    """Whether `value` is a list of annotations."""
    rows = [mapping(row) for row in items(value)]
    return bool(rows) and all("trajectory_id" in row and first(row, *STEP_KEYS) is not None for row in rows)
