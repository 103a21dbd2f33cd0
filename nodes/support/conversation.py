"""A step as a chat shows it: the agent's call and what came of it, as two messages.

They are written together when the step ends, so that in `messages` each call is followed by its result, as
providers demand, whatever ran side by side or was broken off. While it runs, the call is in the stream alone.
"""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage

from forethought.nodes.support.addresses import addresses_in
from forethought.nodes.support.inert_text import inert
from forethought.state.agent import Json, Step
from forethought.text import cut

LONGEST = 2_000
"""Maximum characters of an observation or an argument in the conversation."""


def call_message(n: int, tool: str, arguments: Json) -> AIMessage:
    """The call of step `n`; long arguments are cut."""
    shown = {name: _shortened(value) for name, value in arguments.items() if value is not None}
    call: Any = {"id": f"step-{n}", "name": tool, "args": shown}
    return AIMessage("", id=f"step-{n}", tool_calls=[call])


def step_messages(step: Step) -> list[AIMessage | ToolMessage]:
    """The call of a step and what came of it; none of a step that is no call. A long result is cut, and none
    of it is loaded by a reader of Markdown."""
    if step["action"] != "call" or not step["tool"]:
        return []
    text = step["observation"]
    shown = inert(cut(text, LONGEST), addresses_in(text))
    if len(text) > LONGEST:
        shown += f"\n[All of it: `trajectory`, step {step['n']}]"
    result = ToolMessage(
        shown,
        tool_call_id=f"step-{step['n']}",
        id=f"step-{step['n']}-result",
        name=step["tool"],
        status="success" if step["ok"] else "error",
    )
    return [call_message(step["n"], step["tool"], step["arguments"]), result]


def _shortened(value: Any) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= LONGEST else cut(text, LONGEST)
