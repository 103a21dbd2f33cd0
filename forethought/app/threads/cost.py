"""`show --cost`: what each mechanism of a task cost and changed, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from forethought.app import view
from forethought.app.text import one_line

Json = Mapping[str, Any]
_COLUMNS = ("mechanism", "calls", "tokens in", "cached", "out", "USD", "seconds", "changed")
_WIDE = 110
"""Characters of a screen that has room for figures and words side by side."""


def render_costs(result: Json) -> RenderableType:
    """The table of a report's `cost`, a line a mechanism, and the sum of what models cost."""
    status = f"{one_line(result['status'], 30)}  {view.usage_line(result['usage'])}"
    return Group(
        Text(f"thread {one_line(result['thread_id'])}", style="bold"),
        _Rows(result["cost"]),
        Text(f"{status}, {view.seconds(result['seconds'])}"),
    )


@dataclass(frozen=True)
class _Rows:
    """A line of figures a mechanism, and what it changed: beside them, or below on a narrow screen."""

    rows: Sequence[Json]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        beside = options.max_width >= _WIDE
        table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
        for name in _COLUMNS:
            left = name == "mechanism"
            table.add_column(name, justify="left" if left else "right", no_wrap=left)
        if beside:
            table.add_column("changes, findings, omissions", overflow="fold", ratio=1)
        notes = [Text(one_line(row["note"], 1_000)) for row in self.rows]
        for row, note in zip(self.rows, notes, strict=True):
            table.add_row(*map(Text, _figures(row)), *[note] * beside)
        yield table
        if not beside:
            for row, note in zip(self.rows, notes, strict=True):
                if note:
                    yield Text(f"{_name(row)}: ", style="dim").append_text(note)


def _name(row: Json) -> str:
    return str(row["mechanism"]).replace("_", " ")


def _figures(row: Json) -> list[str]:
    made = bool(row["calls"])
    counts = [f"{row[name]:,}" for name in ("calls", "input_tokens", "cached_tokens", "output_tokens")]
    usd = "?" if row["usd"] is None else f"{row['usd']:.4f}"
    return [
        _name(row),
        *(counts if made else ["", "", "", ""]),
        usd if made else "",
        f"{row['seconds']:.1f}" if made or row["seconds"] else "",
        "" if row["changed"] is None else str(row["changed"]),
    ]
