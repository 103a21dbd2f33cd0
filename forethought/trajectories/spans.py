"""Traces as trees of spans, whichever system recorded them.

A step is a model's span and the tool spans up to the next model's; other spans only frame them. A tool span
before any model's is a step of its own. Instructions, tools and the task are those that the first model was
asked with, unless the outermost span names the task. Where the tools are not traced, the results are those
that the next model was asked with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from forethought.trajectories.layout import Layout
from forethought.trajectories.message_forms import content, is_message
from forethought.trajectories.messages import Conversation, Turn, conversation
from forethought.trajectories.types import Loaded, Outcome
from forethought.trajectories.values import first, is_grade, mapping, outcome, text

MODEL, TOOL = "model", "tool"
_CALLED = re.compile(r"^(?:execute_tool|running tool:) ")
_TASK_KEYS = ("task", "question", "input", "query", "prompt", "problem", "user_input", "contents")
_ANSWER_KEYS = ("answer", "output", "result", "response", "text", "content")
_INSIDE = (
    *("messages", "message", "output", "choices", "generations", "outputs", "input", "contents"),
    *("candidates", "content", "new_message"),
)
_LIMIT = re.compile(
    "GraphRecursionError|recursion limit|max(?:imum)?[ _](?:iterations?|steps|turns)|MaxTurnsExceeded",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    r"correct|success|succeed|pass|accura|reward|resolved|exact|solved|outcome|verdict|^score$", re.IGNORECASE
)


@dataclass
class Span:
    """One span, whichever system recorded it."""

    id: str
    parent: str
    trace: str
    kind: str = ""
    """MODEL, TOOL, or '' for a span that only groups others."""
    name: str = ""
    begun: str = ""
    inputs: Any = None
    outputs: Any = None
    instructions: Any = None
    tools: Any = None
    error: str = ""
    scores: dict[str, Any] = field(default_factory=dict)
    """Scores by name, from people or evaluators."""
    gold: Any = None
    task_id: str = ""


def traces(spans: Iterable[Span], source: str, name: str) -> list[Loaded]:
    """The trajectories that spans tell, one a trace."""
    by_id: dict[str, Span] = {}
    for span in spans:
        by_id.setdefault(span.id, span)
    groups: dict[str, list[Span]] = {}
    for key, span in by_id.items():
        groups.setdefault(span.trace or _top(key, by_id), []).append(span)
    return [
        _trace(group, source, key if not key.startswith("#") else f"{name}-{number}")
        for number, (key, group) in enumerate(groups.items(), 1)
    ]


def _top(key: str, by_id: dict[str, Span]) -> str:
    """The outermost span above this one."""
    passed = {key}
    while (parent := by_id[key].parent) in by_id and parent not in passed:
        passed.add(parent)
        key = parent
    return key


def _trace(spans: Sequence[Span], source: str, name: str) -> Loaded:
    ordered = sorted(spans, key=lambda span: span.begun)
    ids = {span.id for span in ordered}
    root = next((span for span in ordered if span.parent not in ids), ordered[0])
    chat, asked = Conversation(), False
    _frame(ordered)
    for span in ordered:
        if span.kind == MODEL:
            _model(span, chat)
            asked = True
        elif span.kind == TOOL:
            _tool(span, chat.turns, alone=not asked)
    trouble = root.error
    if trouble and chat.turns and trouble not in "\n".join(chat.turns[-1].observed):
        chat.turns[-1].observed.append(f"[the run ended with an error] {trouble}")
    limit = _LIMIT.search(trouble)
    scores = {key: value for span in ordered for key, value in span.scores.items()} | root.scores
    reached, notes = _reached(scores)
    entry = {
        "id": name,
        "task": _words(root.inputs, _TASK_KEYS) or conversation(messages_in(root.inputs)).task,
        "task_id": root.task_id,
        "instructions": next(filter(None, (span.instructions for span in ordered)), None),
        "tools": next(filter(None, (span.tools for span in ordered)), None),
        "answer": "" if root.kind else _words(root.outputs, _ANSWER_KEYS) or _last_words(root.outputs),
        "ended": limit[0] if limit else "",
        "notes": notes if chat.turns else [*notes, "The trace has no span of a model or a tool."],
        "outcome": reached,
        "gold": _words(root.gold, _ANSWER_KEYS),
    }
    return Layout(source, "", outcome="outcome", gold="gold", limits=".").to_loaded(chat, entry, name)


def _frame(spans: Sequence[Span]) -> None:
    """A model's span that holds others only frames them; of two that tell of one call the outer counts."""
    by_parent: dict[str, list[Span]] = {}
    for span in spans:
        by_parent.setdefault(span.parent, []).extend([span] if span.kind else [])
    for span in spans:
        within = by_parent.get(span.id, []) if span.kind == MODEL else []
        twice = len(within) == 1 and within[0].kind == MODEL
        for each in within if twice else [span] if within else []:
            each.kind = ""


def _model(span: Span, chat: Conversation) -> None:
    """A model's span as a turn; what it was asked with says what came before."""
    asked = conversation(messages_in(span.inputs))
    if not chat.turns:
        chat.instructions, chat.task, chat.before = asked.instructions, asked.task, asked.before
    elif not chat.turns[-1].observed and asked.turns:
        chat.turns[-1].observed = asked.turns[-1].observed
    chat.task = chat.task or _words(span.inputs, _TASK_KEYS)
    replied = messages_in(span.outputs) or ([span.outputs] if isinstance(span.outputs, str) else [])
    said = [{"role": "assistant", "content": each} if isinstance(each, str) else each for each in replied]
    turns = conversation(said).turns or [Turn(text=_words(span.outputs, _ANSWER_KEYS))]
    chat.turns.append(turns[-1])
    if span.error:
        turns[-1].failure = "llm_limit"
        turns[-1].observed.append(f"[model error] {span.error}")


def _tool(span: Span, turns: list[Turn], alone: bool) -> None:
    """A tool's span as the observation of the turn that called it, or as a turn `alone`."""
    given = mapping(span.inputs)
    nested = given["input"] if set(given) == {"input"} else span.inputs
    name = _CALLED.sub("", span.name)
    call = {
        "name": name or "(unnamed)",
        "arguments": mapping(nested) or ({"input": text(nested)} if nested else {}),
    }
    if alone:
        turns.append(Turn(calls=[call]))
    elif not turns[-1].calls:
        turns[-1].calls.append(call)  # a model that calls in plain words, which an agent parsed
    called = call["name"] in [made["name"] for made in turns[-1].calls]
    whole = mapping(span.outputs)
    only = content(first(whole, *_ANSWER_KEYS)) if len(whole) == 1 else ""
    said = _last_words(span.outputs) or only or text(span.outputs or None)
    if span.error:
        turns[-1].failure = "tool_execution_error"
        said = "\n".join(filter(None, (said, f"[tool error] {span.error}")))
    turns[-1].observed += [said if called else f"[{name}] {said}"] if said else []


def messages_in(value: Any) -> list[Any]:
    """The messages in a span's inputs or outputs, whichever way they are wrapped."""
    if isinstance(value, list):
        if len(value) == 2 and all(isinstance(each, str) for each in value):
            return [{"role": value[0], "content": value[1]}]
        return [found for each in value for found in messages_in(each)]
    whole = mapping(value)
    if is_message(whole):
        return [whole]
    if "toolName" in whole:
        return [{"role": "assistant", "tool_calls": [whole]}]
    inside = first(whole, *_INSIDE)
    found = messages_in(inside) if isinstance(inside, dict | list) else []
    ended = first(whole, "finish_reason", "stop_reason")
    return [{"finish_reason": ended, **each} for each in found] if ended else found


def _last_words(value: Any) -> str:
    """What the last message in a span's outputs says."""
    said = messages_in(value)
    last = mapping(said[-1]) if said else {}
    inner = mapping(last.get("kwargs")) or mapping(last.get("data")) or last
    return content(inner.get("content")) or content(last.get("parts"))


def _words(value: Any, keys: tuple[str, ...]) -> str:
    """Text, alone or under one of `keys`."""
    if isinstance(value, str):
        return value
    found = first(mapping(value), *keys)
    return found if isinstance(found, str) else ""


def _reached(scores: dict[str, Any]) -> tuple[Outcome, list[str]]:
    """The outcome that scores tell, and a note where they leave it open."""
    telling = [value for key, value in scores.items() if _VERDICT.search(key) and not is_grade(value)]
    told = set(map(outcome, telling)) - {"unknown"}
    if len(told) == 1 or not scores:
        return (told.pop() if told else "unknown"), []
    listed = ", ".join(f"{key} {text(value)}" for key, value in scores.items())
    return "unknown", [f"Its scores do not tell whether it succeeded: {listed}."]
