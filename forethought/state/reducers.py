"""How writes to a channel are joined: pure functions of the old value and a write."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import NAMESPACE_OID, uuid5

from forethought.models.allowance import total
from forethought.models.types import Usage

if TYPE_CHECKING:
    pass

Json = dict[str, Any]
S = TypeVar("S", bound=Mapping[str, Any])

CLEAR = "*"
"""Key of a dict channel's update that empties the channel before the rest of the update is merged."""


def delta(reducer: Callable[[Any, Any], Any]) -> Any:
    """A channel of which a checkpoint stores the new writes alone, and not its whole value again."""
    from langgraph.channels import DeltaChannel

    return DeltaChannel(_fold(reducer), snapshot_frequency=500)


@functools.cache  # LangGraph tells channels of one name apart by it
def _fold(reducer: Callable[[Any, Any], Any]) -> Callable[[Any, Sequence[Any]], Any]:
    return lambda old, writes: functools.reduce(reducer, writes, old)


def merge(old: Json | None, new: Json | None) -> Json:
    """Reducer of a dict channel: merge by key; a value of None deletes its key, and the key `"*"` clears
    first."""
    merged = {} if new and CLEAR in new else dict(old or {})
    for key, value in (new or {}).items():
        if key == CLEAR:
            continue
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = value
    return merged


def last(old: Any, new: Any) -> Any:
    """Reducer of a delta channel that is replaced: the newest write; None empties it."""
    return new or {}


def merge_rounds(old: Json | None, new: Json | None) -> Json:
    """Reducer of long-term memory: as `merge`, one level deeper, so that siblings can add failures to one
    round."""
    merged = {} if new and CLEAR in new else copy.deepcopy(old or {})
    for key, record in (new or {}).items():
        if key == CLEAR:
            continue
        if record is None:
            merged.pop(key, None)
            continue
        merged_record = merged.setdefault(key, {})
        failures = {**merged_record.get("failures", {}), **record.get("failures", {})}
        merged_record.update(record)
        merged_record["failures"] = failures
    return merged


def add_usage(old: Mapping[str, Usage] | None, new: Mapping[str, Usage | None] | None) -> dict[str, Usage]:
    """Reducer of `usage`: sums every figure by role; the key `"*"` clears first.

    What is not above zero counts as zero: no write lowers what was spent.
    """
    sums: dict[str, Usage] = {} if new and CLEAR in new else dict(old or {})
    for role, usage in (new or {}).items():
        if role != CLEAR and usage is not None:
            figures: Mapping[str, Any] = usage
            added = {key: value if value > 0 else 0 for key, value in figures.items()}
            sums[role] = total(sums.get(role, {}), added)
    return sums


def merge_files(old: Sequence[Any] | None, new: Sequence[Any] | None) -> list[Any]:
    """Reducer of `files` and `folders`: a later one replaces the earlier one of the same name; the others
    stay for the whole thread. What is no list or has no name is kept under its own text, for the planner's
    entry to refuse.

    The name `"*"` clears first: else a file that was refused would be refused with every further task.
    """
    merged = {_name(item): item for item in old or []}
    items: Any = new if isinstance(new, list | tuple) else [new] if new else []
    if CLEAR in items:
        merged = {}
    for item in items:
        if item != CLEAR:
            merged[_name(item)] = item
    return list(merged.values())


def _name(item: object) -> str:
    name = item.get("name") if isinstance(item, Mapping) else item
    return str(name)


def join_messages(old: list[Any] | None, new: Any) -> list[Any]:
    """Reducer of `messages`: LangGraph's own, made safe for a channel that is read by folding its writes.

    A message without an id gets the same one each time; the removal of what is not there is no error.
    """
    from langchain_core.messages import RemoveMessage, convert_to_messages
    from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

    before = convert_to_messages(old or [])  # a server may have put JSON in its place
    messages = convert_to_messages(new if isinstance(new, list) else [new])
    for at, message in enumerate(messages, start=len(before)):
        message.id = message.id or str(uuid5(NAMESPACE_OID, f"{at} {message.type} {message.content}"))
    known = {message.id for message in [*before, *messages] if not isinstance(message, RemoveMessage)}
    known.add(REMOVE_ALL_MESSAGES)
    writes: list[Any] = [message for message in messages if message.id in known]
    joined: Any = add_messages(list[Any](before), writes)
    return list(joined)


def append(old: list[Any] | None, new: Sequence[Any] | None) -> list[Any]:
    """Reducer of a list channel: the new items go to its end."""
    return [*(old or []), *(new or [])]


def extend(old: Sequence[Any] | None, new: Sequence[Any] | None) -> list[Any]:
    """As `append`; an item `"*"` clears what stood before it."""
    items = list(new or [])
    if CLEAR in items:
        return items[items.index(CLEAR) + 1 :]
    return append(list(old or []), items)


def with_statuses(state: S) -> S:
    """The state with the status of each subtask in its plan, as prompts show it and clients read it."""
    plan, statuses = state.get("plan") or {}, state.get("statuses") or {}
    if not plan.get("subtasks"):
        return state
    subtasks = [
        {**item, "status": statuses.get(item["id"], item.get("status", "pending"))}
        for item in plan["subtasks"]
    ]
    joined: Any = {**state, "plan": {**plan, "subtasks": subtasks}}
    return joined  # type: ignore[no-any-return]
