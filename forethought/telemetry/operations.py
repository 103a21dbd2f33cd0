"""One thing that is done (a node's work, a model call, a tool call), as a span and as a log line.

Names and attributes follow OpenTelemetry's conventions for generative AI. Neither prompts, replies, arguments
nor observations are ever in them: those are in the thread.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from forethought.telemetry import tracing
from forethought.telemetry.where import here

Kind = Literal["invoke_agent", "node", "chat", "execute_tool"]
Value = str | int | float | bool
_LOG = logging.getLogger("forethought.run")


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


def write_event(event: dict[str, object]) -> None:
    """Put `event` into the custom stream of the run at work; nothing outside of a graph."""
    from langgraph.config import get_stream_writer

    try:
        write = get_stream_writer()
    except (RuntimeError, KeyError):
        return
    write(event)


@contextmanager
def operation(kind: Kind, name: str, **attributes: Value | None) -> Iterator[Operation]:
    """Tell of what is done inside: how long it took and how it ended. What it raises passes through."""
    done = Operation(kind, name)
    done.set(**attributes)
    started = time.monotonic()
    with tracing.span(done):
        try:
            yield done
        except BaseException as error:
            done.outcome, done.error = _ending(error)
            raise
        finally:
            _log(done, time.monotonic() - started)


def _ending(error: BaseException) -> tuple[str, str]:
    from langgraph.errors import GraphBubbleUp

    from forethought.shutdown import Halt

    if isinstance(error, GraphBubbleUp | Halt):
        return "interrupted", ""
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt | GeneratorExit):
        return "cancelled", ""
    return "error", type(error).__name__


def _log(done: Operation, seconds: float) -> None:
    # Of errors too: what becomes of one is the run's business, and told by whoever began it.
    if not _LOG.isEnabledFor(logging.INFO):
        return
    told = {"operation": done.kind, "name": done.name, "outcome": done.outcome, "seconds": round(seconds, 3)}
    if done.error:
        told["error"] = done.error
    fields = {**here(), **told, **done.attributes}
    why = f" ({done.error})" if done.error else ""
    line = f"{done.kind} {done.name}: {done.outcome}{why} in {seconds:.2f} s"
    _LOG.info(line, extra={"fields": fields})
