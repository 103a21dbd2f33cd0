"""`show --cost`: what each mechanism of a task cost and changed, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forethought.app import view
from forethought.app.text import one_line

Json = Mapping[str, Any]
_COLUMNS = ("mechanism", "calls", "tokens in", "cached", "out", "USD", "seconds", "changed")


def render_costs(result: Json) -> RenderableType:
    """The table of a report's `cost`, a line a mechanism, and the sum of what models cost."""
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    for name in _COLUMNS:
        left = name == "mechanism"
        table.add_column(name, justify="left" if left else "right", no_wrap=left)
    table.add_column("what it changed, found, left out", overflow="fold", ratio=1)
    for row in result["cost"]:
        table.add_row(*map(Text, _figures(row)), Text(one_line(row["note"], 1_000)))
    status = f"{one_line(result['status'], 30)}  {view.usage_line(result['usage'])}"
    return Group(
        Text(f"thread {one_line(result['thread_id'])}", style="bold"),
        table,
        Text(f"{status}, {view.seconds(result['seconds'])}"),
    )


def _figures(row: Json) -> list[str]:
    made = bool(row["calls"])
    counts = [f"{row[name]:,}" for name in ("calls", "input_tokens", "cached_tokens", "output_tokens")]
    usd = "?" if row["usd"] is None else f"{row['usd']:.4f}"
    return [
        row["mechanism"].replace("_", " "),
        *(counts if made else ["", "", "", ""]),
        usd if made else "",
        f"{row['seconds']:.1f}" if made or row["seconds"] else "",
        "" if row["changed"] is None else str(row["changed"]),
    ]
