"""Lists of chat messages with tool calls and their results: OpenAI's form, and its near relations.

Every assistant message is a step. What it says before its calls is its planning; its calls, or else its
words, are its action; all that comes before the next assistant message is its observation, so that the last
result is never lost. The first user message is the task, and what stands around it is given to step 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from forethought.trajectories.types import Loaded, Reference, Trajectory, TrajectoryStep
from forethought.trajectories.values import Json, arguments, first, items, mapping, outcome, text

SOURCE = "openai_messages"
_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
_THINKING = ("thinking", "reasoning", "redacted_thinking")


def claims(value: object) -> bool:
    """Whether `value` is such a list, or an object that holds one under 'messages'."""
    listed = items(value) or items(mapping(value).get("messages"))
    return bool(listed) and all(_is_message(item) for item in listed)


def read(value: object, name: str) -> list[Loaded]:
    """The conversation in `value` as one trajectory, named `name` where it has no name of its own."""
    whole = mapping(value)
    chat = conversation(items(value) or items(whole.get("messages")))
    trajectory = trajectory_of(
        chat,
        id=text(first(whole, "id", "task_id", "thread_id")) or name,
        source=SOURCE,
        task=text(whole.get("task")),
        environment=text(whole.get("environment")),
    )
    reached = outcome(first(whole, "success", "won", "reward"))
    return [Loaded(trajectory=trajectory, reference=Reference(outcome=reached))]


@dataclass
class Turn:
    """An assistant message and what came after it."""

    said: str = ""
    thought: str = ""
    calls: list[Json] = field(default_factory=list)
    """{name, arguments}, in order."""
    observed: list[str] = field(default_factory=list)
    failure: Literal["", "tool_execution_error", "llm_limit"] = ""


@dataclass
class Conversation:
    """Messages, sorted by what they are to the agent."""

    task: str = ""
    before: list[str] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)


def conversation(messages: Sequence[Any]) -> Conversation:
    """`messages` in turns. What an unknown role says is an observation that names it."""
    chat = Conversation()
    for message in map(mapping, messages):
        raw = text(first(message, "role", "type"))
        role = _ROLES.get(raw.casefold())
        if role == "assistant":
            chat.turns.append(_turn(message))
            continue
        said = _content(message.get("content"))
        if role == "user" and not chat.task and not chat.turns:
            chat.task = said
        elif said and role == "system" and not chat.turns:
            chat.before.append(said)
        elif said:
            label = {"tool": "", "user": "", "system": "[system] "}.get(role or "", f"[{raw[:40]}] ")
            (chat.turns[-1].observed if chat.turns else chat.before).append(label + said)
        if (
            chat.turns
            and role == "tool"
            and (message.get("status") == "error" or message.get("is_error") is True)
        ):
            chat.turns[-1].failure = "tool_execution_error"
    return chat


def trajectory_of(
    chat: Conversation,
    *,
    id: str,
    source: str,
    task: str = "",
    environment: str = "",
    modules: Callable[[Turn], Json] | None = None,
) -> Trajectory:
    """The trajectory that a conversation tells. `modules` reads a turn's modules in another way."""
    context = "\n\n".join([*chat.before, *([chat.task] if task and chat.task and chat.task != task else [])])
    steps = []
    for number, turn in enumerate(chat.turns, 1):
        calls = turn.calls
        parts = modules(turn) if modules else plain_modules(turn)
        steps.append(
            TrajectoryStep(
                number=number,
                given=context if number == 1 else "",
                observation="\n".join(turn.observed),
                failure=turn.failure,
                tool=calls[0]["name"] if len(calls) == 1 else "",
                arguments=calls[0]["arguments"] if len(calls) == 1 else {},
                **parts,
            )
        )
    last = chat.turns[-1] if chat.turns else None
    return Trajectory(
        id=id,
        task=task or chat.task or "(no task was given)",
        environment=environment,
        source=source,
        steps=tuple(steps),
        answer=last.said if last and not last.calls and not modules else "",
    )


def plain_modules(turn: Turn) -> Json:
    """Planning and action of a turn without module tags."""
    if not turn.calls:
        return {"planning": turn.thought, "action": turn.said}
    calls = "\n".join(f"{call['name']}({text(call['arguments'])})" for call in turn.calls)
    return {"planning": "\n".join(part for part in (turn.thought, turn.said) if part), "action": calls}


def _turn(message: Json) -> Turn:
    thoughts = [text(first(message, "reasoning_content", "reasoning"))]
    calls = items(message.get("tool_calls"))
    listed = bool(calls)
    for block in map(mapping, items(message.get("content"))):
        if block.get("type") in _THINKING:
            thoughts.append(text(first(block, "thinking", "reasoning", "text")))
        elif block.get("type") == "tool_use" and not listed:
            calls.append(block)
    ended = first(message, "finish_reason", "stop_reason")
    return Turn(
        said=_content(message.get("content")),
        thought="\n".join(part for part in thoughts if part),
        calls=[_call(mapping(call)) for call in calls],
        failure="llm_limit" if ended in ("length", "max_tokens") else "",
    )


def _call(call: Json) -> Json:
    """A call as {name, arguments}: OpenAI's `function`, LangChain's `args`, Anthropic's `input`."""
    inner = mapping(call.get("function")) or call
    return {
        "name": text(first(inner, "name", "tool")) or "(unnamed)",
        "arguments": arguments(first(inner, "arguments", "args", "input")),
    }


def _content(value: object) -> str:
    """The text of a message: text blocks joined, other blocks named."""
    if not isinstance(value, list):
        return text(value)
    return "\n".join(part for part in map(_block, value) if part)


def _block(value: object) -> str:
    block, kind = mapping(value), text(mapping(value).get("type"))
    if not block:
        return text(value)
    if kind in (*_THINKING, "tool_use"):
        return ""
    if kind == "tool_result":
        return _content(block.get("content"))
    said = first(block, "text", "refusal")
    return text(said) if said is not None else f"[{kind or 'a block that is no text'}]"


def _is_message(value: object) -> bool:
    message = mapping(value)
    named = isinstance(message.get("role"), str)
    return named or (_ROLES.get(text(message.get("type"))) is not None and "content" in message)
