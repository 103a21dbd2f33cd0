"""What a run came to, as Markdown: every setting, and the ratios that the project holds itself to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from genai_prices import Usage, calc_price

from benchmarks.peers.grid import FLOOR, PEER, SEQUENTIAL, Cell, Setting

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
    "US cents": 2,
    "CPU ms a look-up": 1,
    "look-ups a second": 1,
    "peak MB": 0,
    "KB sent": 0,
    "import, s": 2,
}
"""The table's columns; docs/performance.md says what they mean."""
_RATIOS = ("wall, s", "effective", "CPU ms a look-up")
_BEGIN, _END = "<!-- figures -->", "<!-- /figures -->"


def figures(sums: Json, setting: Setting) -> dict[str, float]:
    """The columns of a cell from what was measured (see `worker.measure`); tokens, money and bytes a run."""
    calls, trips, read, cached, written, sent = (
        sums[name] / setting.runs
        for name in ("calls", "round_trips", "input_tokens", "cached_tokens", "output_tokens", "bytes")
    )
    usage = Usage(input_tokens=round(read), cache_read_tokens=round(cached), output_tokens=round(written))
    look_ups = setting.runs * setting.k
    columns = {
        "wall, s": sums["wall_s"],
        "model calls": calls,
        "tokens": read + written,
        "effective": read + written - (1 - CACHED) * cached,
        "US cents": 100 * float(calc_price(usage, model_ref=PRICED, provider_id="openai").total_price),
        "CPU ms a look-up": 1000 * sums["cpu_s"] / look_ups,
        "look-ups a second": look_ups / sums["wall_s"],
        "peak MB": sums["peak_mb"],
        "KB sent": sent / 1000,
        "import, s": sums.get("import_s", 0),
    }
    if setting.latency_ms:  # without it, requests side by side seem to follow one another
        columns |= {
            "round trips": trips,
            "wall : round trips": 1000 * sums["wall_s"] / trips / setting.latency_ms,
        }
    return columns


class Table:
    """All that was measured: `results` as results.json holds them."""

    def __init__(self, results: Json, chosen: Sequence[Setting], names: Sequence[str]) -> None:
        self.results, self.chosen, self.names = results, chosen, names
        self.cells = {
            (cell["contender"], *(cell[key] for key in asdict(chosen[0]))): cell for cell in results["cells"]
        }

    def cell(self, name: str, setting: Setting) -> Json:
        """A contender's cell, or the one that stands for it; failed where it was not measured."""
        cell = Cell(name, setting).measured
        return self.cells.get((cell.contender, *asdict(cell.setting).values()), {"failed": "not measured"})

    def figure(self, column: str, name: str, setting: Setting, to: str = "") -> float | None:
        """A figure, or its ratio to that of another contender; None where one of them is missing."""
        own = self.cell(name, setting).get(column)
        other = self.cell(to, setting).get(column) if to else 1
        return own / other if own is not None and other else None

    def whole(self) -> str:
        """Every setting with its contenders, as they were measured."""
        heads = [
            "",
            *DIGITS,
            *(f"{column.partition(',')[0]} : {to}" for to in (FLOOR, PEER) for column in _RATIOS),
        ]
        parts = [self.head()]
        for setting in self.chosen:
            rows = []
            for name in self.names:
                why = self.cell(name, setting)["failed"].replace("|", "/").replace("\n", " ")
                ratios = [
                    self.figure(column, name, setting, to) for to in (FLOOR, PEER) for column in _RATIOS
                ]
                shown = [
                    _shown(self.figure(column, name, setting), digits) for column, digits in DIGITS.items()
                ]
                if why != "not measured" and Cell(name, setting).measured.contender == name:
                    rows.append([name, f"failed: {why}"] if why else [name, *shown, *map(_shown, ratios)])
            parts += [f"## {setting}", _table(heads, rows)]
        return "\n\n".join(parts) + "\n"

    def head(self) -> str:
        """Where it was measured."""
        machine = ", ".join(f"{name} {value}" for name, value in self.results["machine"].items())
        return f"{'The small' if self.results['quick'] else 'The whole'} grid; {machine}."

    def summary(self) -> str:
        """Ours by shape and size: tokens and CPU against create_agent, wall time with the slowest model
        against the bare loop and against the latency of its own round trips."""
        ours = [name for name in self.names if name.startswith("ours")]
        single = [setting for setting in self.chosen if setting.runs == 1]
        fast, slow = (which(setting.latency_ms for setting in single) for which in (min, max))
        together = [setting for setting in self.chosen if setting.runs > 1]
        rows = []
        for column, to, settings in (
            *(("effective", to, [s for s in single if s.latency_ms == slow]) for to in (PEER, SEQUENTIAL)),
            *(
                ("CPU ms a look-up", to, [s for s in single if s.latency_ms == fast])
                for to in (PEER, SEQUENTIAL)
            ),
            ("wall, s", FLOOR, [s for s in single if s.latency_ms == slow]),
            ("wall : round trips", "", [s for s in single if s.latency_ms == slow]),
            ("look-ups a second", PEER, together),
        ):
            for setting in settings:
                if not to or Cell(to, setting).measured.contender == to:
                    shown = [_shown(self.figure(column, name, setting, to)) for name in ours]
                    rows.append([f"{column} : {to}" if to else column, str(setting), *shown])
        return _table(["ratio", "setting", *ours], rows)


def write_docs(table: Table, path: Path) -> None:
    """Put the ratios in place of those that the page shows."""
    before, _, rest = path.read_text("utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    path.write_text(f"{before}{_BEGIN}\n{table.head()}\n\n{table.summary()}\n{_END}{after}", "utf-8")


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join([*line, *[''] * (len(heads) - len(line))])} |" for line in lines)


def _shown(value: float | None, digits: int = 2) -> str:
    return "n/a" if value is None else f"{value:,.{digits}f}"
