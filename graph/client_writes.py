"""What a client may write to a thread: by an update of its state, by a command, or with a run's input.

A channel takes what the state's types say and nothing else, so that no write leaves a thread which cannot be
read. Where a server has users, or the operator bounds what runs may spend, clients write only what is asked
(the input) and what is decided (`DECISIONS`): what was done and spent is the run's own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, get_args, get_origin, get_type_hints

from langchain_core.messages import convert_to_messages
from langgraph.types import Command, Overwrite
from pydantic import BaseModel, TypeAdapter, ValidationError

from forethought.settings import reason_of
from forethought.state.agent import FileRef
from forethought.state.reducers import CLEAR
from forethought.text import one_line

DECISIONS = frozenset({"plan", "proposals", "answer", "status"})
"""Channels that a client may write instead of the node that owns them."""
_OVERWRITE = "__overwrite__"
"""LangGraph's key for replacing a channel's value without its reducer."""


class UpdateError(ValueError):
    """A write that clients may not make, described in one line."""


def check_update(values: Any, state: type, input: type, *, bounded: bool) -> None:
    """Raises UpdateError where `values`, by channel, may not be written to a thread of a graph with these
    schemas."""
    if isinstance(values, Command):
        check_command(values.update, values.goto)
        return
    pairs = list(values.items()) if isinstance(values, Mapping) else values or []
    if not isinstance(pairs, list | tuple) or not all(map(_is_pair, pairs)):
        raise UpdateError("an update must be an object of channels and values, such as {plan: ...}")
    forms = _forms(state)
    writable = DECISIONS.union(_forms(input)) if bounded else forms.keys()
    for channel, value in pairs:
        if channel not in forms or channel not in writable:
            decisions = ", ".join(sorted(DECISIONS))
            said = f"channel {one_line(channel, 60)} is read-only for clients; write the input or {decisions}"
            raise UpdateError(said)
        _check(channel, value, forms[channel])


def check_run(given: Any, command: Mapping[str, Any] | None = None) -> None:
    """Raises UpdateError for the input of a run if no channel could hold it, and for a command that does more
    than reply. What else is wrong with a task, the agent says in its answer."""
    if given is not None and not isinstance(given, Mapping):
        raise UpdateError("the input of a run must be an object, such as {messages: ...} or {task: ...}")
    for channel, value in (given or {}).items():
        _check(channel, value, _messages if channel == "messages" else lambda value: value)
    check_command(*((command or {}).get(key) for key in ("update", "goto")))


def check_context(context: Any, schema: Any) -> None:
    """Raises UpdateError for a run's context that its schema does not take: which value, and the limit."""
    if context is None or isinstance(context, BaseModel):
        return
    try:
        schema.model_validate(context)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, ("context", *first["loc"])))
        line = f"{place} is {one_line(repr(first['input']), 60)}: {reason_of(first)}"
        raise UpdateError(one_line(line, 300)) from error


def as_config(before: Any) -> dict[str, Any]:
    """A checkpoint, or a config that holds one, as a config: LangGraph's server passes on either.

    Raises UpdateError if neither has a `checkpoint_id`.
    """
    checkpoint = before.get("configurable", before)
    if not isinstance(checkpoint, Mapping) or not isinstance(checkpoint.get("checkpoint_id"), str):
        raise UpdateError("before has no checkpoint_id: give a checkpoint of the thread's history")
    return {"configurable": checkpoint}


def check_command(update: Any, goto: Any) -> None:
    """Raises UpdateError for a command that does more than reply to questions."""
    if update or goto:
        raise UpdateError(
            "a command may only reply (resume): to change anything else, update the thread's state"
        )


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)


def _check(channel: str, value: Any, form: Callable[[Any], Any]) -> None:
    erased = isinstance(value, Mapping) and (_OVERWRITE in value or value.get("type") == _OVERWRITE)
    if erased or isinstance(value, Overwrite):
        raise UpdateError(f"clients may not overwrite channel {channel}: send an update without {_OVERWRITE}")
    try:
        form(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, (channel, *first["loc"])))
        raise UpdateError(one_line(f"{place}: {first['msg']}", 300)) from error


@functools.cache
def _forms(schema: type) -> dict[str, Callable[[Any], Any]]:
    """What checks a write, by channel."""
    return {name: _form(name, hint) for name, hint in get_type_hints(schema).items()}


def _form(name: str, hint: Any) -> Callable[[Any], Any]:
    if name == "messages":
        return _messages
    if get_origin(hint) is dict:  # an update names the keys that change; None takes one away
        key, value = get_args(hint)
        hint = dict[key, value | None]  # type: ignore[valid-type]
    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    check = functools.partial(adapter.validate_python, strict=True)
    return (lambda value: _files(check(value))) if hint == list[FileRef | str] else check


def _files(items: list[FileRef | str]) -> None:
    """The planner stores the files that a run's input brings; an update goes past it."""
    for item in items:
        if item != CLEAR and (isinstance(item, str) or "data" in item or not {"name", "hash"} <= item.keys()):
            raise UpdateError(
                "files: an update takes stored files only, as {name, hash}; send other files with a run"
            )


def _messages(value: Any) -> None:
    try:
        convert_to_messages(value if isinstance(value, list) else [value])
    except (ValueError, TypeError, LookupError, NotImplementedError) as error:
        raise UpdateError(
            "messages: a message must be an object such as {role: user, content: TEXT}"
        ) from error
