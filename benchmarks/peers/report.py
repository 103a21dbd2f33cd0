"""What a run came to, as Markdown: every setting, and the ratios that the project holds itself to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from genai_prices import Usage, calc_price

from benchmarks.peers.grid import FLOOR, OURS, PEER, SEQUENTIAL, Cell, Setting
from benchmarks.peers.task import SHAPES

Json = dict[str, Any]
CACHED, PRICED = 0.1, "gpt-4.1"
"""What a cached token counts of one that is read anew, and the model whose price is the provider's."""
DIGITS = {
    "wall, s": 2,
    "model calls": 0,
    "round trips": 0,
    "wall : round trips": 2,
    "tokens": 0,
    "effective": 0,
}
DIGITS |= {
    "US cents": 2,
    "CPU ms a look-up": 1,
    "look-ups a second": 1,
    "peak MB": 0,
    "KB sent": 0,
    "import, s": 2,
}
"""The table's columns and their decimals.

`wall`: until all runs had ended. `round trips`: the most model calls of a run that followed one another;
`wall : round trips` is the time against the model's time in them, 1.0 at least. `tokens`: characters / 4 of
tools, schema, messages and reply in a run; `effective` counts cached ones at a tenth. `CPU` and `peak MB`:
of the agent's process. `KB sent`: a run's requests with headers. `import`: the framework in a new process.
"""
_RATIOS = ("wall, s", "effective", "CPU ms a look-up")


def figures(sums: Json, setting: Setting) -> dict[str, float]:
    """The columns of a cell from what was measured (see `worker.measure`); tokens, money and bytes a run."""
    names = ("calls", "round_trips", "input_tokens", "cached_tokens", "output_tokens", "bytes")
    calls, trips, read, cached, written, sent = (sums[name] / setting.runs for name in names)
    usage = Usage(input_tokens=round(read), cache_read_tokens=round(cached), output_tokens=round(written))
    look_ups, wall = setting.runs * setting.k, sums["wall_s"]
    columns = {"wall, s": wall, "model calls": calls, "tokens": read + written}
    if setting.latency_ms:  # without it, requests side by side seem to follow one another
        columns |= {"round trips": trips, "wall : round trips": 1000 * wall / trips / setting.latency_ms}
    return columns | {
        "effective": read + written - (1 - CACHED) * cached,
        "US cents": 100 * float(calc_price(usage, model_ref=PRICED, provider_id="openai").total_price),
        "CPU ms a look-up": 1000 * sums["cpu_s"] / look_ups,
        "look-ups a second": look_ups / wall,
        "peak MB": sums["peak_mb"],
        "KB sent": sent / 1000,
        "import, s": sums.get("import_s", 0),
    }


class Table:
    """All that was measured: `results` as results.json holds them."""

    def __init__(self, results: Json, chosen: Sequence[Setting], names: Sequence[str]) -> None:
        self.results, self.chosen, self.names = results, chosen, names
        self.cells = {(cell["contender"], cell["setting"]): cell for cell in results["cells"]}

    def figure(self, column: str, name: str, setting: Setting, to: str = "") -> float | None:
        """A figure, or its ratio to that of another contender; None where one of them is missing."""
        cells = [Cell(who, setting).measured for who in (name, to) if who]
        values = [self.cells.get((cell.contender, str(cell.setting)), {}).get(column) for cell in cells]
        if None in values:
            return None
        return values[0] / values[1] if to else values[0]

    def whole(self) -> str:
        """Every setting with those that were measured in it."""
        ratios = [(column, to) for to in (FLOOR, PEER) for column in _RATIOS]
        heads = ["", *DIGITS, *(f"{column.partition(',')[0]} : {to}" for column, to in ratios)]
        parts = [self.head()]
        for setting in self.chosen:
            rows = []
            for name in self.names:
                if cell := self.cells.get((name, str(setting))):
                    own = [_shown(self.figure(column, name, setting), n) for column, n in DIGITS.items()]
                    own += [_shown(self.figure(column, name, setting, to)) for column, to in ratios]
                    rows.append([name, *(own if not cell["failed"] else [f"failed: {cell['failed']}"])])
            parts += [f"## {setting}", _table(heads, rows)] if rows else []
        return "\n\n".join(parts) + "\n"

    def head(self) -> str:
        """Where it was measured."""
        return ", ".join(f"{name} {value}" for name, value in self.results["machine"].items()) + "."

    def summary(self) -> str:
        """Ours by shape and size: tokens and CPU against create_agent, wall time with the slowest model
        against the bare loop and against the latency of its own round trips."""
        ours = [name for name in self.names if name.startswith("ours")]
        single = [setting for setting in self.chosen if setting.runs == 1]
        fast, slow = (
            [s for s in single if s.latency_ms == end(s.latency_ms for s in single)] for end in (min, max)
        )
        together = [setting for setting in self.chosen if setting.runs > 1]
        wanted = [("effective", PEER, slow), ("effective", SEQUENTIAL, slow)]
        wanted += [("CPU ms a look-up", PEER, fast), ("CPU ms a look-up", SEQUENTIAL, fast)]
        wanted += [
            ("wall, s", FLOOR, slow),
            ("wall : round trips", "", slow),
            ("look-ups a second", PEER, together),
        ]
        rows = []
        for column, to, settings in wanted:
            for setting in settings:
                if not to or Cell(to, setting).measured.contender == to:
                    shown = [_shown(self.figure(column, name, setting, to)) for name in ours]
                    rows.append([f"{column} : {to}" if to else column, str(setting), *shown])
        return _table(["ratio", "setting", *ours], rows)

    def page(self) -> str:
        """What docs/performance.md shows: the defaults' ratios in single runs, a column a size."""
        single = [setting for setting in self.chosen if setting.runs == 1]
        fast, slow = (end(s.latency_ms for s in single) for end in (min, max))
        sizes = sorted({setting.k for setting in single})
        rows = [
            [f"{what} : {to}", shape, *(_shown(self.figure(column, OURS, at, to)) for at in row)]
            for what, column, to, ms in (
                ("tokens", "effective", PEER, slow),
                ("CPU", "CPU ms a look-up", PEER, fast),
                ("time", "wall, s", FLOOR, slow),
            )
            for shape in SHAPES
            for row in [[Setting(1, ms, shape, k) for k in sizes]]
        ]
        return _table(["ratio", "task", *(f"K = {k}" for k in sizes)], rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def _shown(value: float | None, digits: int = 2) -> str:
    return "n/a" if value is None else f"{value:,.{digits}f}"
