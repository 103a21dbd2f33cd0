"""Shows a debugging while it happens, and all of it at its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from forethought.app.debug import render
from forethought.app.run import questions
from forethought.app.stream_display import StreamDisplay, entries
from forethought.app.text import one_line

Json = Mapping[str, Any]


class DebugDisplay(StreamDisplay):
    """Prints what the debugger's stream brings."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._subject: Json = {}

    def thinking(self, event: Json) -> str:
        """Which role is asked, and about which step."""
        step = f" about step {event['step']}" if event.get("step") else ""
        return f"{one_line(event.get('role'), 20)} is thinking{step}"

    def updated(self, node: str, update: Json) -> None:
        """What is debugged, a step's labels, a probe, a re-run that has just ended."""
        if update.get("subject"):
            self._subject = update["subject"]
            self._print(render.subject(self._subject))
            self._print(render.verdict(update.get("verdict") or {}))
        for number, labels in entries(update.get("labels")):
            self._print(render.labelled(number, labels))
        for number, why in entries(update.get("label_problems")):
            self._print(render.not_labelled(number, why))
        for record in records(update, "probes"):
            self._print(render.probe(record))
        if update.get("critical"):
            self._print(render.found(update["critical"]))
        for record in records(update, "branches"):
            self._print(render.ended(record))

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
    shown = [render.errors(result["labels"])]
    shown.append(render.critical(result["critical"]) if result["critical"] else None)
    shown += [render.rerun(record, subject) for record in result["branches"]]
    shown += [Text(f"note: {one_line(note, 400)}", style="dim") for note in result["notes"]]
    shown += [questions.show_question(question) for question in result.get("interrupts") or []]
    if result.get("error") and not told:
        shown.append(Text(one_line(result["error"], 400), style="red"))
    for renderable in (*shown, render.summary(result)):
        if renderable is not None:
            console.print(renderable)
