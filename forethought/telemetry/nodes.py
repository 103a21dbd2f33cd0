"""Each node's work as an operation of its own."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any, cast

from forethought.telemetry.operations import operation
from forethought.telemetry.where import entered

Node = Callable[..., Awaitable[Any]]


def observed(node: Node) -> Node:
    """`node`, an async function of a graph, with what it does told under its name."""

    @functools.wraps(node)
    async def told(*args: Any, **kwargs: Any) -> Any:
        place = _place()
        entered(**place, node=node.__name__)
        with operation("node", node.__name__, **_dispatched(args)):
            return await node(*args, **kwargs)

    return cast(Node, told)


def _place() -> dict[str, Any]:
    """The thread and run at work, from LangGraph's own record."""
    from langgraph.config import get_config

    try:
        configurable = get_config().get("configurable") or {}
    except RuntimeError:  # called outside of a graph
        return {}
    runtime = configurable.get("__pregel_runtime")
    info = getattr(runtime, "execution_info", None)
    return {
        "thread_id": configurable.get("thread_id"),
        "run_id": getattr(info, "run_id", None) or (get_config().get("metadata") or {}).get("run_id"),
    }


def _dispatched(args: tuple[Any, ...]) -> dict[str, Any]:
    """The subtask and step that a node was sent for."""
    sent = args[0] if args and isinstance(args[0], dict) else {}
    n, subtask = sent.get("n"), sent.get("subtask")
    return {
        "forethought__n": n if isinstance(n, int) else None,
        "forethought__subtask": subtask if isinstance(subtask, str) else None,
    }
