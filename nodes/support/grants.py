"""Grants: the calls that a person asked for, as a model reads them from the person's words alone.

The prompt holds the person's tasks, messages, guidance and answers, plans that the person approved before any
outside text came in, and the operator's descriptions of tools. It holds no file, page, result, draft or
proposed call, so no text from outside can change a grant.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from forethought.models.schema import json_schema
from forethought.models.types import Message, reply_spec
from forethought.nodes.support.budget import allowance
from forethought.nodes.support.services import Turn
from forethought.nodes.support.words import words_of
from forethought.prompts.render import prompt_messages
from forethought.prompts.replies import Grants
from forethought.state.agent import AgentState
from forethought.state.grants import Grant, ReadGrants
from forethought.text import one_line
from forethought.tools.base import Tool

_KEPT = 100
"""Readings that a process keeps for subtasks that run side by side."""


def grants_messages(state: AgentState, tools: Mapping[str, Tool]) -> list[Message]:
    """The prompt that asks for the grants."""
    listed = [_signature(tool) for _, tool in sorted(tools.items()) if tool.effect != "read"]
    words, plans = words_of(state, tools), state.get("foreseen", [])
    today = f"{date.today():%A, %Y-%m-%d}"
    return prompt_messages("grants", tools="\n".join(listed), words=words, plans=plans, today=today)


def grants_key(messages: list[Message]) -> str:
    """The hash of the prompt, which ties grants to the words that a model read."""
    return hashlib.sha256("\0".join(message.text for message in messages).encode()).hexdigest()[:16]


def _signature(tool: Tool) -> str:
    """A tool's name, arguments and purpose in a line; of a foreign tool, names alone."""
    schema = json_schema(tool.arguments)
    names = []
    for name, entry in schema.get("properties", {}).items():
        name = re.sub(r"[^\w-]+", "_", name)[:60]
        kind = schema.get("$defs", {}).get(entry.get("$ref", "").rpartition("/")[2], entry)
        choices = "|".join(map(str, kind.get("enum", ()))) if not tool.foreign else ""
        names.append(f"{name}{'*' * (name in tool.content)}{': ' * bool(choices)}{choices}")
    return f"- {tool.name}({', '.join(names)})" + ("" if tool.foreign else f": {one_line(tool.brief, 80)}")


async def read_grants(state: AgentState, turn: Turn) -> dict[str, Any]:
    """Read the grants, once for the same words.

    Returns the update with the grants and the call's usage; {} if the state has them. Without a usable reply
    there are no grants, so every call is asked about.
    """
    messages = grants_messages(state, turn.services.tools)
    key = grants_key(messages)
    read = state.get("grants")
    if read and read["key"] == key and not read["problem"]:
        return {}
    info = turn.runtime.execution_info
    flight = (info.thread_id or info.run_id if info else None, state["progress"]["waves"], key)
    lock, done = turn.services.readings.setdefault(flight, (asyncio.Lock(), []))
    async with lock:
        update: dict[str, Any] = {}
        if not done:
            update, read = await _ask(messages, key, state, turn)
            done.append(read)
            for old in list(turn.services.readings)[:-_KEPT]:
                turn.services.readings.pop(old, None)
    return {"grants": done[0], **update}


async def _ask(
    messages: list[Message], key: str, state: AgentState, turn: Turn
) -> tuple[dict[str, Any], ReadGrants]:
    allowed = allowance(state, turn.context)
    if spent := allowed.spent():
        return {}, {"key": key, "grants": [], "problem": f"the budget of {spent} is spent"}
    result = await turn.ask("consent", messages, reply_spec(Grants), allowed, lenient=True)
    found = result.reply.grants if result.reply else []
    grants: list[Grant] = [
        {
            "tool": grant.tool,
            "arguments": {item.name: item.values for item in grant.arguments},
            "times": grant.times,
            "condition": grant.condition,
        }
        for grant in found
    ]
    return {"usage": {"consent": result.usage}}, {"key": key, "grants": grants, "problem": result.problem}
