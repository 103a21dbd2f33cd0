"""Shows a debugging while it happens, and all of it at its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.status import Status
from rich.text import Text

from forethought.app import debug_render, questions
from forethought.app.text import one_line
from graph.reducers import CLEAR

Json = Mapping[str, Any]


class DebugDisplay:
    """Prints what the debugger's stream brings. A spinner says what is going on, on a terminal."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._status: Status | None = None
        self._subject: Json = {}

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
                self._status = None

    def part(self, part: Json) -> None:
        """One part of `astream(..., stream_mode=["updates", "custom"], version="v2")`."""
        if part["type"] == "custom":
            self._event(part["data"])
            return
        for node, update in part["data"].items():
            if not node.startswith("__") and isinstance(update, Mapping):
                self._update(update)

    def _event(self, event: Json) -> None:
        if self._status and event.get("event") == "thinking":
            step = f" about step {event['step']}" if event.get("step") else ""
            self._status.update(Text(f"{one_line(event.get('role'), 20)} is thinking{step}"))

    def _update(self, update: Json) -> None:
        """What a node wrote: what is debugged, a step's labels, a probe, a re-run that has just ended."""
        if update.get("subject"):
            self._subject = update["subject"]
            self._print(debug_render.subject(self._subject))
            self._print(debug_render.verdict(update.get("verdict") or {}))
        for number, labels in (update.get("labels") or {}).items():
            if number != CLEAR and labels:
                self._print(debug_render.labelled(number, labels))
        for number, why in (update.get("label_problems") or {}).items():
            if number != CLEAR and why:
                self._print(debug_render.not_labelled(number, why))
        for record in records(update, "probes"):
            self._print(debug_render.probe(record))
        if update.get("critical"):
            self._print(debug_render.found(update["critical"]))
        for record in records(update, "branches"):
            self._print(debug_render.ended(record))

    def _print(self, renderable: RenderableType | None) -> None:
        if renderable is not None:
            self.console.print(renderable)


def records(update: Json, channel: str) -> list[Json]:
    """The records of a list channel's update, without the mark that clears it."""
    return [record for record in update.get(channel) or [] if isinstance(record, Mapping)]


def show_debug_ending(result: Json, subject: Json, console: Console, told: bool = False) -> None:
    """The errors, the critical one, each re-run with how it differs, what waits for a reply, the cost.

    `told`: the error is told elsewhere.
    """
    shown = [debug_render.errors(result["labels"])]
    shown.append(debug_render.critical(result["critical"]) if result["critical"] else None)
    shown += [debug_render.rerun(record, subject) for record in result["branches"]]
    shown += [Text(f"note: {one_line(note, 400)}", style="dim") for note in result["notes"]]
    shown += [questions.show_question(question) for question in result.get("interrupts") or []]
    if result.get("error") and not told:
        shown.append(Text(one_line(result["error"], 400), style="red"))
    for renderable in (*shown, debug_render.summary(result)):
        if renderable is not None:
            console.print(renderable)
