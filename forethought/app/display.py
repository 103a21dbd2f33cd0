"""Shows a run while it happens, from the parts of the graph's stream."""

from __future__ import annotations

import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console, Group, RenderableType
from rich.progress import Progress, TextColumn
from rich.status import Status
from rich.text import Text

from forethought.app import view
from forethought.app.text import clean, one_line
from forethought.text import how_many

if TYPE_CHECKING:
    from forethought.collecting.estimate import Cost

Json = Mapping[str, Any]
_PIPE_WIDTH = 120
_SIDE_BY_SIDE = ("tool_agent", "tool_executor")


class _Console(Console):
    """A console whose reader may leave: the command itself then says what became of it."""

    def on_broken_pipe(self) -> None:
        """Rich would end the program on the spot."""
        raise BrokenPipeError("stdout was closed")


def make_console(stream: TextIO | None = None) -> Console:
    """A console without markup, emoji codes or colours of its own choice."""
    stream = stream or sys.stdout
    width = None if stream.isatty() or os.environ.get("COLUMNS") else _PIPE_WIDTH
    return _Console(file=stream, width=width, markup=False, emoji=False, highlight=False, soft_wrap=False)


@dataclass
class Meter:
    """Time and model usage of a run so far, beside what it does: drawn anew with each frame."""

    doing: str = "starting"
    usage: dict[str, Any] = field(default_factory=dict)
    """By role."""
    seconds: float = 0.0
    """Of earlier stretches, between which a person was asked."""
    since: float = field(default_factory=time.monotonic)

    def add(self, usage: Mapping[str, Any]) -> None:
        """Count what a node's model calls took."""
        from forethought.state.reducers import add_usage

        self.usage = dict(add_usage(self.usage, usage))

    def __rich__(self) -> Text:
        from forethought.app.report import usage_of

        figures = [view.seconds(int(self.seconds + time.monotonic() - self.since))]
        figures += [view.usage_line(usage_of({"usage": self.usage}))] if self.usage else []
        return Text.assemble(self.doing, "  ", (", ".join(figures), "dim"))


class StreamDisplay(ABC):
    """Prints a graph's updates, with a spinner, time and cost on a terminal."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.meter = Meter()
        self._status: Status | None = None

    @property
    def modes(self) -> list[str]:
        """The parts of the graph's stream that are shown."""
        return ["updates", "custom"]

    @contextmanager
    def live(self) -> Iterator[None]:
        """Show a spinner while the graph runs; nothing where there is no terminal."""
        if not self.console.is_terminal:
            yield
            return
        self.meter.since = time.monotonic()
        with self.console.status(self.meter, spinner="dots") as self._status:
            try:
                yield
            finally:
                self._status = None
                self.meter.seconds += time.monotonic() - self.meter.since

    def part(self, part: Json) -> None:
        """Show one part of `astream(..., stream_mode=self.modes, version="v2")`."""
        if part["type"] == "custom":
            self.event(part["data"])
            return
        for node, update in part["data"].items():
            if not node.startswith("__") and isinstance(update, Mapping):
                self.meter.add(update.get("usage") or {})
                self.updated(node, update)

    def event(self, event: Json) -> None:
        """Show what begins: that a model is asked, and about what; and what is to be known before."""
        if event.get("event") == "note":
            self.line(f"note: {one_line(event.get('text'), 400)}", "dim")
        if event.get("event") == "thinking":
            about = event.get("about") or f"step {event.get('step')}"
            self.busy(f"{one_line(event.get('role'), 20)}: {one_line(about, 60)}")

    def busy(self, text: str, below: RenderableType = "") -> None:
        """Write this beside the spinner."""
        self.meter.doing = text
        if self._status:
            self._status.update(Group(self.meter, below) if below else self.meter)

    @abstractmethod
    def updated(self, node: str, update: Json) -> None:
        """Print what `node` wrote."""

    def line(self, text: str, style: str = "") -> None:
        """Print one line."""
        self.console.print(Text(clean(text), style=style))


class RunDisplay(StreamDisplay):
    """Prints the updates of the agent's graph, each plan and each step once.

    With `asks_about_plans` the question about a plan shows it; only those that it replaced are printed.
    """

    def __init__(self, console: Console, asks_about_plans: bool = False) -> None:
        super().__init__(console)
        self._asks_about_plans = asks_about_plans
        self._busy: dict[str, str] = {}
        self._shown: set[int] = set()
        self._version = 0
        self._to_approve: Json = {}
        """The plan that the next question shows."""
        self._answer: tuple[str | None, str] = (None, "")
        """Id and text of the message that is being written."""

    @property
    def modes(self) -> list[str]:
        """See StreamDisplay. A model writes in pieces only where somebody watches."""
        return [*super().modes, *(["messages"] if self.console.is_terminal else [])]

    def part(self, part: Json) -> None:
        """See StreamDisplay. Once the answer is whole, the result is printed in its place."""
        if part["type"] != "messages":
            super().part(part)
            return
        message = part["data"][0]
        if message.type == "AIMessageChunk":
            before = self._answer[1] if message.id == self._answer[0] else ""
            self._answer = (message.id, before + str(message.text))
            self._tell_busy()

    def _tell_busy(self) -> None:
        answer = self._answer[1]
        self.busy("; ".join(self._busy.values()), view.Tail(view.Prose(answer)) if answer else "")

    def event(self, event: Json) -> None:
        """Show what begins, and a model call that failed."""
        who = one_line(event.get("subtask") or event.get("role") or "", 30)
        match event.get("event"):
            case "thinking":
                role = one_line(event.get("role"), 20)
                self._busy[who] = f"{role} is thinking" + (f" about {who}" if event.get("subtask") else "")
            case "writing":
                role, tokens = one_line(event.get("role"), 20), how_many(event.get("tokens") or 0, "token")
                speed = f"{event['per_second']} a second" if event.get("per_second") else "just begun"
                self._busy[who] = (
                    f"{role} is writing{f' for {who}' if event.get('subtask') else ''}: {tokens}, {speed}"
                )
            case "acting":
                self._busy[who] = f"{who}: {view.call(event.get('tool'), event.get('arguments'), 60)}"
            case "reading":
                self._busy[who] = f"{who}: {view.reading(event)}"
            case "waiting" | "fallback":
                self.console.print(view.model_event(event))
            case "withdrawn":
                self._answer = (None, "")
        self._tell_busy()

    def updated(self, node: str, update: Json) -> None:
        """Print what the node wrote, but for what was left out, and what was printed before.

        A resumed wave may bring the steps of its finished siblings again, and each new status its plan.
        """
        if node not in _SIDE_BY_SIDE:
            self._busy.clear()
        steps = [step for step in update.get("trajectory") or [] if step.get("n") not in self._shown]
        self._shown |= {step.get("n", 0) for step in steps}
        for step in steps:
            self._busy.pop(one_line(step.get("subtask"), 30), None)
        plan = update.get("plan") or {}
        version = plan.get("version", 0)
        if node == "approve_plan":
            self._to_approve = {}
        new = {**update, "trajectory": steps, "skipped": []}
        if version == self._version or update.get("decision"):
            new.pop("plan", None)
        elif version:
            self._version = version
            if self._to_approve:
                self.console.print(view.plan(self._to_approve))
            self._to_approve = new.pop("plan") if self._asks_about_plans else {}
        for part in view.parts(new):
            self.console.print(part)


class Bar(Progress):
    """A progress bar on a terminal; elsewhere a line for each run that has ended."""

    def __init__(self, console: Console, what: str, total: int) -> None:
        columns = (*Progress.get_default_columns(), TextColumn("{task.fields[cost]}"))
        super().__init__(*columns, console=console, disable=not console.is_terminal)
        self._total, self._done = total, 0
        self._run = self.add_task(what, total=total, cost="")

    def tick(self, what: str, cost: Cost) -> None:
        """One more has ended, and `what` it came to."""
        self._done += 1
        self.update(self._run, advance=1, cost=cost_line(cost))
        if self.disable:
            self.console.print(f"{self._done}/{self._total}  {what}  {cost_line(cost)}")


def cost_line(cost: Cost) -> str:
    """A cost in a few words."""
    dollars = "" if cost.usd is None else f", ${cost.usd:.4f}"
    return f"{cost.runs} run{'' if cost.runs == 1 else 's'}, {round(cost.tokens)} tokens{dollars}"
