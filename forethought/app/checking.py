"""A thread that comes out of a database is looked at before anything relies on it: see `graph.validation`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from forethought.app.errors import FAILED, CliError
from forethought.app.text import one_line

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot


async def read_state(graph: Any, schema: type, thread_id: str, checkpoint_id: str = "") -> StateSnapshot:
    """A checkpoint of the thread, its head by default, if its state is one that the graph has written.

    Raises CliError that names the channel, StorageError.
    """
    from langgraph.errors import InvalidUpdateError

    at = {"checkpoint_id": checkpoint_id} if checkpoint_id else {}
    config: Any = {"configurable": {"thread_id": thread_id, **at}}
    try:
        snapshot: StateSnapshot = await graph.aget_state(config)
    except (TypeError, ValueError, KeyError, AttributeError, IndexError, InvalidUpdateError) as error:
        # A reducer that is given what no node has written: LangGraph joins what finished tasks have left.
        raise refused(thread_id, f"its state cannot be put together ({one_line(error)})") from error
    check_values(schema, thread_id, snapshot.values)
    return snapshot


def check_values(schema: type, thread_id: str, values: Mapping[str, Any]) -> None:
    """Raises CliError unless `values` are a state that the graph has written."""
    from forethought.graph.validation import StateError, check_state

    try:
        check_state(schema, values)
    except StateError as error:
        raise refused(thread_id, str(error)) from error


def refused(thread_id: str, why: str) -> CliError:
    """The thread is not what this program has written."""
    return CliError(
        f"thread {one_line(thread_id)} was changed by hand, or is damaged: {one_line(why, 300)}; nothing was "
        "run",
        FAILED,
    )
