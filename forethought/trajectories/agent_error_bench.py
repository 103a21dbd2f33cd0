"""AgentErrorBench's trajectories and labels, as the released files of AgentDebug have them (2.2).

A trajectory is {metadata: {task_id, task, success | won, environment}, messages | chat_history: [...]}. Each
assistant message is a step, whose modules stand between tags. It is told from any other file of messages with
metadata by `chat_history`, or by an environment and an outcome in its metadata. Files of labels are read by
the benchmark, which knows trajectories by the names of their files.
"""

from __future__ import annotations

import re
from typing import Any

from forethought.trajectories.layout import Layout
from forethought.trajectories.messages import conversation
from forethought.trajectories.values import Json, first, items, mapping, text

SOURCE = "agent_error_bench"
STEP_KEYS = ("critical_failure_step", "critical_step")
_TAGS = ("memory", "memory_recall", "reflection", "plan", "think", "action", "tool_call", "answer")
_TASK = re.compile(r"your task is(?: to)?:\s*(.+)", re.IGNORECASE)


def _adapted(entry: Json) -> Json:
    """The modules of each message, the task in its words, and the answer that the last message gives."""
    messages = [_sorted(mapping(each)) for each in items(first(entry, "messages", "chat_history"))]
    metadata = mapping(entry.get("metadata"))
    asked = _TASK.search(conversation(messages).task)
    said = [each for each in messages if each.get("role") == "assistant"]
    action = text(mapping(said[-1].get("modules")).get("action")) if said else ""
    return {
        **entry,
        "messages": messages,
        "task": text(metadata.get("task")).strip() or (asked[1] if asked else ""),
        "answer": action.removeprefix("answer: ") if action.startswith("answer: ") else "",
    }


def _sorted(message: Json) -> Json:
    """An assistant's message with its modules by their tags; one without any tag stays plain words."""
    said = text(message.get("content")) if message.get("role") == "assistant" else ""
    inner = {tag: re.search(f"<{tag}>(.*?)</{tag}>", said, re.IGNORECASE | re.DOTALL) for tag in _TAGS}
    sections = {tag: found[1].strip() for tag, found in inner.items() if found}
    if not sections:
        return message

    def section(*tags: str) -> Any:
        return next((sections[tag] for tag in tags if sections.get(tag)), None)

    action = f"answer: {sections['answer']}" if "answer" in sections else section("action", "tool_call")
    modules = {
        "memory": section("memory", "memory_recall"),
        "reflection": section("reflection"),
        "planning": section("plan", "think"),
        "action": action,
    }
    return {**message, "content": "", "modules": {name: said for name, said in modules.items() if said}}


AGENT_ERROR_BENCH = Layout(
    SOURCE,
    "messages|chat_history chat_history|metadata.environment chat_history|metadata.success|metadata.won",
    adapt=_adapted,
    id="",
    task_id="metadata.task_id",
    environment="metadata.environment",
    outcome="metadata.success|success|metadata.won|won",
    answers=False,
)


def is_labels(value: object) -> bool:
    """Whether `value` is a list of annotations."""
    rows = [mapping(row) for row in items(value)]
    return bool(rows) and all("trajectory_id" in row and first(row, *STEP_KEYS) is not None for row in rows)
