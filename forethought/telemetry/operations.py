"""One thing that is done (a node's work, a model call, a tool call), as a span and as a log line.

Names and attributes follow OpenTelemetry's conventions for generative AI. Neither prompts, replies, arguments
nor observations are ever in them: those are in the thread.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from forethought.telemetry import tracing

Kind = Literal["invoke_agent", "node", "chat", "execute_tool"]
Value = str | int | float | bool
Node = Callable[..., Awaitable[Any]]
_LOG = logging.getLogger("forethought.run")
_place: ContextVar[dict[str, str] | None] = ContextVar("place", default=None)


def here() -> dict[str, str]:
    """thread_id, run_id and node at work, as far as they are known; {} outside of a graph."""
    return dict(_place.get() or {})


def set_log_context(**known: Any) -> None:
    """What is known from here on, in this task and those that it starts."""
    _place.set({**here(), **{name: str(value) for name, value in known.items() if value}})


@dataclass
class Operation:
    """What is known of it so far."""

    kind: Kind
    name: str
    attributes: dict[str, Value] = field(default_factory=dict)
    outcome: str = "ok"
    """ok, failed (told by whoever did it), error (an exception), interrupted (it waits for a person) or
    cancelled."""
    error: str = ""
    """The error's type, or a tool's cause."""

    def set(self, **attributes: Value | None) -> None:
        """Add attributes; `__` in a name stands for a dot. None leaves one out."""
        for name, value in attributes.items():
            if value is not None:
                self.attributes[name.replace("__", ".")] = value

    def failed(self, why: str) -> None:
        """It came to nothing, for this cause."""
        self.outcome, self.error = "failed", why


@contextmanager
def operation(kind: Kind, name: str, **attributes: Value | None) -> Iterator[Operation]:
    """Tell of what is done inside: how long it took and how it ended. What it raises passes through."""
    done = Operation(kind, name)
    done.set(**attributes)
    started = time.monotonic()
    with tracing.span(name if kind == "node" else f"{kind} {name}", is_client=kind == "chat") as span:
        try:
            yield done
        except BaseException as error:
            done.outcome, done.error = _outcome(error)
            raise
        finally:
            if span is not None:
                tracing.describe(span, _span_attributes(done), done.error)
            _log(done, time.monotonic() - started)


def _outcome(error: BaseException) -> tuple[str, str]:
    from langgraph.errors import GraphBubbleUp

    from forethought.shutdown import Halt

    if isinstance(error, GraphBubbleUp | Halt):
        return "interrupted", ""
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt | GeneratorExit):
        return "cancelled", ""
    return "error", type(error).__name__


def _span_attributes(done: Operation) -> dict[str, Value]:
    place = {f"forethought.{name}": value for name, value in here().items()}
    if thread_id := place.pop("forethought.thread_id", ""):
        place["gen_ai.conversation.id"] = thread_id
    kind = {} if done.kind == "node" else {"gen_ai.operation.name": done.kind}
    return {**place, **kind, "forethought.outcome": done.outcome, **done.attributes}


def _log(done: Operation, seconds: float) -> None:
    # Of errors too: what becomes of one is the run's business, and told by whoever began it.
    fields = {
        "operation": done.kind,
        "name": done.name,
        "outcome": done.outcome,
        "seconds": round(seconds, 3),
    }
    error = {"error": done.error} if done.error else {}
    why = f" ({done.error})" if done.error else ""
    _LOG.info(
        f"{done.kind} {done.name}: {done.outcome}{why} in {seconds:.2f} s",
        extra={"fields": {**here(), **fields, **error, **done.attributes}},
    )


def observed(node: Node) -> Node:
    """`node`, an async function of a graph, with what it does told under its name."""

    @functools.wraps(node)
    async def observed_node(*args: Any, **kwargs: Any) -> Any:
        set_log_context(**_graph_place(), node=node.__name__)
        # The subtask and step that a node was sent for.
        sent = args[0] if args and isinstance(args[0], dict) else {}
        with operation(
            "node", node.__name__, forethought__n=sent.get("n"), forethought__subtask=sent.get("subtask")
        ):
            return await node(*args, **kwargs)

    return cast(Node, observed_node)


def _graph_place() -> dict[str, Any]:
    """The thread and run at work, from LangGraph's own record."""
    from langgraph.config import get_config

    try:
        config = get_config()
    except RuntimeError:  # called outside of a graph
        return {}
    configurable = config.get("configurable") or {}
    info = getattr(configurable.get("__pregel_runtime"), "execution_info", None)
    run_id = getattr(info, "run_id", None) or (config.get("metadata") or {}).get("run_id")
    return {"thread_id": configurable.get("thread_id"), "run_id": run_id}


def write_event(event: dict[str, object]) -> None:
    """Put `event` into the custom stream of the run at work; nothing outside of a graph."""
    from langgraph.config import get_stream_writer

    try:
        write = get_stream_writer()
    except (RuntimeError, KeyError):
        return
    write(event)
