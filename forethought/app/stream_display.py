"""What the displays of offline graphs share: a spinner, and the parts of a graph's stream told apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.status import Status
from rich.text import Text

from forethought.app.text import one_line
from forethought.state.reducers import CLEAR

Json = Mapping[str, Any]


class StreamDisplay:
    """Prints what a graph's stream brings. A spinner says what is going on, on a terminal."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._status: Status | None = None

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
            event = part["data"]
            if self._status and event.get("event") == "thinking":
                self._status.update(Text(self.thinking(event)))
            return
        for node, update in part["data"].items():
            if not node.startswith("__") and isinstance(update, Mapping):
                self.updated(node, update)

    def thinking(self, event: Json) -> str:
        """What the spinner says while a model is asked."""
        return f"{one_line(event.get('role'), 20)}: {one_line(event.get('about'), 60)}"

    def updated(self, node: str, update: Json) -> None:
        """Prints what `node` wrote."""
        raise NotImplementedError


def entries(value: Any) -> list[tuple[str, Any]]:
    """The entries of a dict channel's update that hold something, without the mark that clears it."""
    found = value if isinstance(value, Mapping) else {}
    return [(key, item) for key, item in found.items() if key != CLEAR and item]
