"""Shows a run while it happens: takes the graph's stream parts and prints each record once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.status import Status
from rich.text import Text

from forethought.app import render
from forethought.app.text import one_line

Json = Mapping[str, Any]
_PIPE_WIDTH = 120
_SIDE_BY_SIDE = ("tool_agent", "tool_executor")


class _Console(Console):
    """A console whose reader may leave: the command itself then says what became of it."""

    def on_broken_pipe(self) -> None:
        """Rich would end the program on the spot."""
        raise BrokenPipeError("the reader has left")


def make_console(stream: TextIO | None = None) -> Console:
    """A console that takes nothing in a text for markup, emoji codes or colours of its own choice."""
    stream = stream or sys.stdout
    width = None if stream.isatty() or os.environ.get("COLUMNS") else _PIPE_WIDTH
    return _Console(file=stream, width=width, markup=False, emoji=False, highlight=False, soft_wrap=False)


class Display:
    """Prints what the stream brings. A spinner says what is being thought or done, on a terminal."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._status: Status | None = None
        self._busy: dict[str, str] = {}
        self._shown: set[int] = set()
        self._parts: list[Any] = []

    @contextmanager
    def live(self) -> Iterator[None]:
        """While the graph runs: a spinner on a terminal, nothing elsewhere."""
        if not self.console.is_terminal:
            yield
            return
        with self.console.status(Text("starting"), spinner="dots") as self._status:
            try:
                yield
            finally:
                self._status, self._busy = None, {}

    def part(self, part: Json) -> None:
        """One part of `astream(..., stream_mode=["updates", "custom"], version="v2")`."""
        if part["type"] == "custom":
            self._event(part["data"])
            return
        for node, update in part["data"].items():
            if node.startswith("__") or not isinstance(update, Mapping):
                continue
            if node not in _SIDE_BY_SIDE:
                self._busy.clear()
            self._update(update)

    def _event(self, event: Json) -> None:
        """What begins: a model call, a tool call, or the wait before a model is asked again."""
        who = one_line(event.get("subtask") or event.get("role") or "", 30)
        if event.get("event") == "thinking":
            self._busy[who] = f"{one_line(event.get('role'), 20)} is thinking" + (
                f" about {who}" if event.get("subtask") else ""
            )
        elif event.get("event") == "acting":
            self._busy[who] = f"{who}: {render.call(event.get('tool'), event.get('arguments'), 60)}"
        elif event.get("event") == "waiting":
            self._print(render.waiting(event))
        elif event.get("event") == "fallback":
            self._print(render.fallback(event))
        if self._status:
            self._status.update(Text("; ".join(self._busy.values())))

    def _update(self, update: Json) -> None:
        """What a node wrote, in the order in which a person wants to read it."""
        for record in update.get("plan_reviews") or []:
            self._print(render.review(record))
        for record in update.get("replans") or []:
            self._print(render.replan(record))
        if update.get("plan") and not update.get("decision"):
            self._plan(
                update["plan"], revised=any(review["revised"] for review in update.get("plan_reviews") or [])
            )
        for record in (update.get("proposals") or {}).values():
            self._print(render.proposal(record) if record else None)
        for record in update.get("trajectory") or []:
            self._step(record)
        for subtask, record in (update.get("short_term") or {}).items():
            self._print(render.memory(subtask, record) if subtask != "*" else None)
        for key, record in (update.get("long_term") or {}).items():
            self._print(render.round_record(record) if key != "*" and record else None)
        if update.get("decision"):
            self._decision(update)
        if update.get("lessons"):
            self._print(render.lessons(update["lessons"]))

    def _plan(self, record: Json, revised: bool) -> None:
        """A plan, when its subtasks are not those that were shown last; a mere change of status is not."""
        parts = [
            (task["id"], task["description"], task["depends_on"]) for task in record.get("subtasks") or []
        ]
        if parts and parts != self._parts:
            self._parts = parts
            self._print(render.plan(record, revised=revised))

    def _step(self, record: Json) -> None:
        """A step, once: a resumed wave may bring the steps of its finished siblings again."""
        self._busy.pop(one_line(record.get("subtask"), 30), None)
        if record.get("n") not in self._shown:
            self._shown.add(record.get("n", 0))
            self._print(render.step(record))
            self._print(render.reflection(record))

    def _decision(self, update: Json) -> None:
        if update.get("dispatch"):
            self._print(render.wave((update.get("progress") or {}).get("waves", 0), update["dispatch"]))
        else:
            self._print(render.decision(update["decision"]))

    def _print(self, renderable: RenderableType | None) -> None:
        if renderable is not None:
            self.console.print(renderable)
