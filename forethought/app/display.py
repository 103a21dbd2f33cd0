"""Shows a run while it happens: takes the graph's stream parts and prints each record once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.status import Status
from rich.text import Text

from forethought.app import render
from forethought.app.text import clean, one_line
from forethought.state.reducers import CLEAR

if TYPE_CHECKING:
    from forethought.collecting.estimate import Cost

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


class StreamDisplay:
    """Prints the updates of a graph's stream; on a terminal, a spinner names the model call under way."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._status: Status | None = None

    @contextmanager
    def live(self) -> Iterator[None]:
        """Show a spinner while the graph runs; nothing where there is no terminal."""
        if not self.console.is_terminal:
            yield
            return
        with self.console.status(Text("starting"), spinner="dots") as self._status:
            try:
                yield
            finally:
                self._status = None

    def part(self, part: Json) -> None:
        """Show one part of `astream(..., stream_mode=["updates", "custom"], version="v2")`."""
        if part["type"] == "custom":
            event = part["data"]
            if self._status and event.get("event") == "thinking":
                self._status.update(Text(self.thinking(event)))
            return
        for node, update in part["data"].items():
            if not node.startswith("__") and isinstance(update, Mapping):
                self.updated(node, update)

    def thinking(self, event: Json) -> str:
        """The spinner's text while a model is asked."""
        return f"{one_line(event.get('role'), 20)}: {one_line(event.get('about'), 60)}"

    def updated(self, node: str, update: Json) -> None:
        """Print what `node` wrote."""
        raise NotImplementedError

    def show(self, renderable: RenderableType | None) -> None:
        """Print it, if there is something."""
        if renderable is not None:
            self.console.print(renderable)

    def line(self, text: str, style: str = "") -> None:
        """Print one line."""
        self.console.print(Text(clean(text), style=style))


def entries(value: Any) -> list[tuple[str, Any]]:
    """The entries of a dict channel's update that hold something, without the mark that clears it."""
    found = value if isinstance(value, Mapping) else {}
    return [(key, item) for key, item in found.items() if key != CLEAR and item]


def usage_line(usage: Json) -> str:
    """Model calls, tokens and price in one line."""
    calls = f"{usage['calls']} model call{'' if usage['calls'] == 1 else 's'}"
    price = "price unknown" if usage["usd"] is None else f"${usage['usd']:.4f}"
    return f"{calls}, {render.tokens(usage)}, {price}"


class Display(StreamDisplay):
    """Prints what the stream brings. A spinner says what is being thought or done, on a terminal."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._busy: dict[str, str] = {}
        self._shown: set[int] = set()
        self._parts: list[Any] = []

    def part(self, part: Json) -> None:
        """See StreamDisplay."""
        if part["type"] == "custom":
            self._event(part["data"])
        else:
            super().part(part)

    def updated(self, node: str, update: Json) -> None:
        """See StreamDisplay."""
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
            self.show(render.waiting(event))
        elif event.get("event") == "fallback":
            self.show(render.fallback(event))
        if self._status:
            self._status.update(Text("; ".join(self._busy.values())))

    def _update(self, update: Json) -> None:
        """What a node wrote, in the order in which a person wants to read it."""
        for record in update.get("plan_reviews") or []:
            self.show(render.review(record))
        for record in update.get("replans") or []:
            self.show(render.replan(record))
        if update.get("plan") and not update.get("decision"):
            self._plan(
                update["plan"], revised=any(review["revised"] for review in update.get("plan_reviews") or [])
            )
        for record in (update.get("proposals") or {}).values():
            self.show(render.proposal(record) if record else None)
        for record in update.get("trajectory") or []:
            self._step(record)
        for subtask, record in (update.get("short_term") or {}).items():
            self.show(render.memory(subtask, record) if subtask != "*" else None)
        for key, record in (update.get("long_term") or {}).items():
            self.show(render.round_record(record) if key != "*" and record else None)
        if update.get("decision"):
            self._decision(update)
        if update.get("lessons"):
            self.show(render.lessons(update["lessons"]))

    def _plan(self, record: Json, revised: bool) -> None:
        """A plan, when its subtasks are not those that were shown last; a mere change of status is not."""
        parts = [
            (task["id"], task["description"], task["depends_on"]) for task in record.get("subtasks") or []
        ]
        if parts and parts != self._parts:
            self._parts = parts
            self.show(render.plan(record, revised=revised))

    def _step(self, record: Json) -> None:
        """A step, once: a resumed wave may bring the steps of its finished siblings again."""
        self._busy.pop(one_line(record.get("subtask"), 30), None)
        if record.get("n") not in self._shown:
            self._shown.add(record.get("n", 0))
            self.show(render.step(record))
            self.show(render.reflection(record))

    def _decision(self, update: Json) -> None:
        if update.get("dispatch"):
            self.show(render.wave((update.get("progress") or {}).get("waves", 0), update["dispatch"]))
        else:
            self.show(render.decision(update["decision"]))


class Bar:
    """A progress bar on a terminal; elsewhere a line for each run that has ended."""

    def __init__(self, console: Console, what: str, total: int) -> None:
        self.console, self.total, self.done = console, total, 0
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[cost]}"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(what, total=total, cost="")

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def tick(self, what: str, cost: Cost) -> None:
        """One more has ended, and `what` it came to."""
        self.done += 1
        self._progress.update(self._task, advance=1, cost=cost_line(cost))
        if not self.console.is_terminal:
            self.console.print(f"{self.done}/{self.total}  {what}  {cost_line(cost)}")


def cost_line(cost: Cost) -> str:
    """A cost in a few words."""
    dollars = "" if cost.usd is None else f", ${cost.usd:.4f}"
    return f"{cost.runs} run{'' if cost.runs == 1 else 's'}, {round(cost.tokens)} tokens{dollars}"
