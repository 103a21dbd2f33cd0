"""What the displays of the offline graphs share: the spinner, lines, and the parts of a stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.status import Status
from rich.text import Text

from forethought.app.render import tokens
from forethought.app.text import clean, one_line
from forethought.state.reducers import CLEAR

Json = Mapping[str, Any]


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
    return f"{calls}, {tokens(usage)}, {price}"
